internal import BusProtocol
internal import BusTransport
internal import Primitives
internal import Synchronization

/// Decides who may connect to which port, and says who may not: once a minute for each key.
final class ConnectionJudge: Sendable {
  /// Keys whose refusal is remembered; past it the memory starts again.
  private static let maximumRemembered = 1000
  private static let quietNanoseconds: Int64 = 60_000_000_000

  private let control: AccessControl
  private let report: @Sendable (OperatorReport) -> Void
  private let reported = Mutex<[ConnectionRequest: Int64]>([:])

  init(_ control: AccessControl, _ report: @escaping @Sendable (OperatorReport) -> Void) {
    self.control = control
    self.report = report
  }

  /// The domain of a port's socket is the port's name.
  func decide(_ request: ConnectionRequest) -> ConnectionVerdict {
    guard let port = RefusalCounts.Port(rawValue: request.domain) else { return .deny }
    let holder = control.current.holder(of: request.key)
    let isWelcome =
      switch port {
      case .bus: holder != nil
      case .live: holder?.maySubscribeToSomething ?? false
      case .publish, .push: holder?.mayPublishSomething ?? false
      }
    if isWelcome { return .allow(user: control.user(of: request.key)) }
    refuse(request, port, holder)
    // Our clients connect to the bus first, are told, and ask again by themselves. A plain socket of any
    // language would stay away for ever once told: it is left to try again.
    return port == .bus ? .deny : .denyForNow
  }

  private func refuse(
    _ request: ConnectionRequest, _ port: RefusalCounts.Port, _ holder: AccessHolder?
  ) {
    let who = holder.map { "'\($0.name)' (\(request.key))" } ?? "\(request.key)"
    let why = holder == nil ? "is not authorised" : "has no right there"
    let text = "key \(who) from \(request.address) \(why), port '\(port.rawValue)'"
    control.count(.denied, on: port, sample: text)
    let now = SystemClock.monotonic()
    let isNews = reported.withLock { reported in
      if let last = reported[request], now - last < Self.quietNanoseconds { return false }
      if reported.count >= Self.maximumRemembered { reported.removeAll() }
      reported[request] = now
      return true
    }
    if isNews {
      report(
        OperatorReport(
          .warning, "denied",
          text + ": `eventbus keys authorize` lets it in"))
    }
  }
}
