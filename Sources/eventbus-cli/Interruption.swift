import Primitives
import ServiceRuntime
import Synchronization

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// A request to end, as a running command sees it: SIGTERM, SIGINT, or SIGHUP where it is no service. The
/// second one ends the process at once, without asking anybody.
final class Interruption: Sendable {
  /// Readable from the request on; never cleared.
  let wake: WakeSignal
  private let requested = Mutex<ExitCode?>(nil)
  private let requests = Mutex<Requests?>(nil)
  private let action = Mutex<(@Sendable (ExitCode) -> Void)?>(nil)

  private init() throws(SystemError) { wake = try WakeSignal() }

  var isRequested: Bool { code != nil }

  /// What a one-shot command exits with; nil while nobody has asked.
  var code: ExitCode? { requested.withLock { $0 } }

  /// Calls `body` with what a one-shot command exits with when the request comes, or at once if it has come: on
  /// the thread of the signals.
  func onRequest(_ body: @escaping @Sendable (ExitCode) -> Void) {
    action.withLock { $0 = body }
    if let code { body(code) }
  }

  /// From now on all signals go to the returned queue, the second one included, which then ends nothing
  /// by itself: for a command with children to end first.
  func takeRequests() -> Requests {
    requests.withLock { requests in
      let queue = Requests(wake: wake)
      if let code { queue.add(.stop(code)) }
      requests = queue
      return queue
    }
  }

  /// Waits for a request, at most that long.
  func wait(milliseconds: Int32) {
    var entry = pollfd(fd: wake.descriptor, events: Int16(POLLIN), revents: 0)
    _ = unsafe poll(&entry, 1, milliseconds)
  }

  /// The signals that came, in order.
  final class Requests: Sendable {
    /// Readable when `next` has something to give.
    let wake: WakeSignal
    private let events = Mutex<[SignalSource.Event]>([])

    fileprivate init(wake: WakeSignal) { self.wake = wake }

    fileprivate func add(_ event: SignalSource.Event) {
      events.withLock { $0.append(event) }
      wake.signal()
    }

    func next() -> SignalSource.Event? {
      // Cleared before looking: what comes in between signals again.
      wake.clear()
      return events.withLock { $0.isEmpty ? nil : $0.removeFirst() }
    }
  }

  private func request(_ code: ExitCode) {
    // One lock for both, so that a request goes to the queue or is found by `takeRequests`.
    let isQueued = requests.withLock { queue in
      queue?.add(.stop(code))
      requested.withLock { $0 = $0 ?? code }
      return queue != nil
    }
    if isQueued { return }
    wake.signal()
    action.withLock { $0 }?(code)
  }

  /// A second request, or one to read the configuration again: true when the command takes it itself.
  private func pass(_ event: SignalSource.Event) -> Bool {
    requests.withLock { queue in
      queue?.add(event)
      return queue != nil
    }
  }

  /// Runs `command` on a thread of its own and takes signals meanwhile; returns what it returns.
  ///
  /// - Parameter isService: one that goes on when its terminal is gone.
  static func run(
    isService: Bool, _ command: @escaping @Sendable (Interruption) -> ExitCode
  ) throws -> ExitCode {
    var signals = try SignalSource(endsAtHangUp: !isService)
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
      case .kill(let code):
        if !interruption.pass(.kill(code)) { exit(code.rawValue) }
      case .reload: _ = interruption.pass(.reload)
      case nil: break
      }
    }
    thread.join()
    return outcome.code.withLock { $0 }
  }

  private final class Outcome: Sendable {
    let code = Mutex<ExitCode>(.failed)
  }
}
