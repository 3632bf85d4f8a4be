import Primitives
import ServiceRuntime
import Synchronization

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// A request to end, as a running command sees it: SIGTERM or SIGINT. The second one ends the process at
/// once, without asking anybody.
final class Interruption: Sendable {
  /// Readable from the request on; never cleared.
  let wake: WakeSignal
  private let requested = Mutex<ExitCode?>(nil)
  private let action = Mutex<(@Sendable () -> Void)?>(nil)

  private init() throws(SystemError) { wake = try WakeSignal() }

  var isRequested: Bool { code != nil }

  /// What a one-shot command exits with; nil while nobody has asked.
  var code: ExitCode? { requested.withLock { $0 } }

  /// Calls `body` when the request comes, or at once if it has come: on the thread of the signals.
  func onRequest(_ body: @escaping @Sendable () -> Void) {
    action.withLock { $0 = body }
    if isRequested { body() }
  }

  private func request(_ code: ExitCode) {
    requested.withLock { $0 = $0 ?? code }
    wake.signal()
    action.withLock { $0 }?()
  }

  /// Runs `command` on a thread of its own and takes signals meanwhile; returns what it returns.
  static func run(_ command: @escaping @Sendable (Interruption) -> ExitCode) throws -> ExitCode {
    var signals = try SignalSource()
    let interruption = try Interruption()
    let ended = try WakeSignal()
    let outcome = Outcome()
    let thread = try OwnedThread(name: "eb-command") {
      outcome.code.withLock { $0 = command(interruption) }
      ended.signal()
    }
    while true {
      var items = [
        pollfd(fd: signals.descriptor, events: Int16(POLLIN), revents: 0),
        pollfd(fd: ended.descriptor, events: Int16(POLLIN), revents: 0),
      ]
      _ = unsafe poll(&items, 2, -1)
      if items[1].revents != 0 { break }
      switch try signals.next() {
      case .stop(let code): interruption.request(code)
      case .kill(let code): exit(code.rawValue)
      case .reload, nil: break
      }
    }
    thread.join()
    return outcome.code.withLock { $0 }
  }

  private final class Outcome: Sendable {
    let code = Mutex<ExitCode>(.failed)
  }
}
