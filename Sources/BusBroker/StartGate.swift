internal import BusTransport
internal import Primitives
internal import Synchronization

/// Carries the outcome of a thread's start to whoever started it: the address bound, or why not.
///
/// Sockets must be made on the thread that uses them, and a start must fail where it was asked for.
final class StartGate: Sendable {
  private let wake: WakeSignal
  private let outcome = Mutex<Outcome>(.none)

  private enum Outcome {
    case none
    case opened(String)
    case failed(any Error)
  }

  init() throws(SystemError) { wake = try WakeSignal() }

  /// Runs a thread's whole life. `body` calls `opened` once; an error before that is the start's, one
  /// after it is returned.
  @discardableResult
  func run(_ body: (_ opened: (String) -> Void) throws -> Void) -> (any Error)? {
    do {
      try body { address in settle(.opened(address)) }
      return nil
    } catch {
      settle(.failed(error))
      return error
    }
  }

  private func settle(_ new: Outcome) {
    let isFirst = outcome.withLock { outcome in
      guard case .none = outcome else { return false }
      outcome = new
      return true
    }
    if isFirst { wake.signal() }
  }

  func wait() throws -> String {
    while true {
      let outcome = outcome.withLock { $0 }
      switch outcome {
      case .none: wake.wait()
      case .opened(let address): return address
      case .failed(let error): throw error
      }
    }
  }
}
