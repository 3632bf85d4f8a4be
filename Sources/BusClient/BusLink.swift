internal import BusProtocol
internal import Primitives

/// How a client's connection to the broker is, as every service says it: in its log, on `/status` and in its
/// metrics. Pure: notices come in, and what is worth a line in a log comes out.
public struct BusLink: Hashable, Sendable {
  public enum State: String, CaseIterable, Hashable, Sendable {
    /// The broker is asked, and there is still time for its answer.
    case connecting
    case connected
    /// Nobody has answered for five seconds.
    case absent
    /// The broker does not let this client in, or not do this.
    case denied
  }

  public let address: String
  public private(set) var state = State.connecting
  /// The code for which the broker asked to wait; empty once it took the session.
  private var waitsFor = ""
  /// What is wrong and what to do; empty while nothing is.
  public private(set) var trouble = ""

  public init(address: String) { self.address = address }

  /// Nil for what is no news, or concerns not the connection but the events. What lasts is told once when it
  /// begins and once when it ends. Keys: `bus.absent`, `bus.denied`, `bus.answers`, `bus.session`, `bus.waiting`.
  ///
  /// - Parameter why: of `.absent`: why that may be, and what to do (`reason`).
  mutating func take(
    _ notice: ConnectionNotice, why: String = BusHost.usualReason
  ) -> OperatorReport? {
    switch notice {
    case .connected: return connected()
    case .silent:
      if state == .connected { state = .connecting }
      return nil
    case .sessionLost:
      if state == .connected { state = .connecting }
      // Its restart, an operator's seek, or other rights of the key: what follows says which.
      return .init(.info, "bus.session", "the bus at \(address) ended the session; opening another")
    case .absent:
      return enter(
        .absent, "bus.absent",
        "the bus at \(address) does not answer; waiting for it: \(why)"
      )
    case .refusedForNow(RefusalCode.denied.rawValue, let text):
      return enter(
        .denied, "bus.denied", "the bus at \(address) does not let this in (DENIED): \(text)")
    case .refusedForNow(let code, let text):
      let why = "the bus at \(address) asks to wait (\(code)): \(text)"
      if state != .connected { (state, trouble) = (.connecting, why) }
      // Asked again with each try; told once until the session is made anew.
      defer { waitsFor = code }
      return code == waitsFor ? nil : .init(.warning, "bus.waiting", why)
    case .gap, .caughtUp, .sought: return nil
    }
  }

  /// What `take` says of a notice. Asks the name service where nobody answers: before a lock, not under it.
  static func reason(of notice: ConnectionNotice, at address: String) -> String {
    notice == .absent ? BusHost.whySilent(address) : ""
  }

  private mutating func connected() -> OperatorReport? {
    let wasMissed = state == .absent || state == .denied
    (state, trouble, waitsFor) = (.connected, "", "")
    return wasMissed ? .init(.info, "bus.answers", "the bus at \(address) answers now") : nil
  }

  private mutating func enter(_ new: State, _ key: String, _ text: String) -> OperatorReport? {
    guard state != new || trouble != text else { return nil }
    (state, trouble, waitsFor) = (new, text, "")
    return .init(.warning, key, text)
  }
}
