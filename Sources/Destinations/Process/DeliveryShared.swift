internal import Primitives
internal import Synchronization

/// What a publisher's threads and its owner share.
final class DeliveryShared: Sendable {
  struct State: Sendable {
    var status: DeliveryStatus
    var failure: DeliveryFailure?
    var isStopping = false
    var hasEnded = false
    var hasStarted = false
    var hasOpened = false
  }

  private let state: Mutex<State>
  /// Signalled for the thread that delivers: events, or an order.
  let news: WakeSignal
  /// Signalled when it has opened or ended.
  private let changed: WakeSignal
  let describe: @Sendable (DeliveryStatus) -> String
  let report: @Sendable (OperatorReport) -> Void

  init(
    _ status: DeliveryStatus, _ describe: @escaping @Sendable (DeliveryStatus) -> String,
    _ report: @escaping @Sendable (OperatorReport) -> Void
  ) throws(SystemError) {
    state = Mutex(State(status: status))
    news = try WakeSignal()
    changed = try WakeSignal()
    self.describe = describe
    self.report = report
  }

  var status: DeliveryStatus {
    get { state.withLock { $0.status } }
    set { state.withLock { $0.status = newValue } }
  }

  var failure: DeliveryFailure? { state.withLock { $0.failure } }
  var isStopping: Bool { state.withLock { $0.isStopping } }

  func fail(_ failure: DeliveryFailure) {
    state.withLock { $0.failure = $0.failure ?? failure }
    stop()
  }

  func stop() {
    state.withLock { $0.isStopping = true }
    news.signal()
    changed.signal()
  }

  /// The folder can be used.
  func start() {
    state.withLock { $0.hasStarted = true }
    changed.signal()
  }

  func open() {
    state.withLock { $0.hasOpened = true }
    changed.signal()
  }

  func finish() {
    state.withLock { $0.hasEnded = true }
    changed.signal()
  }

  func waitUntilStarted() {
    while !state.withLock({ $0.hasStarted || $0.hasEnded }) {
      changed.wait()
    }
    changed.signal()
  }

  func waitUntilOpened(_ limit: Duration) -> Bool {
    let end = SystemClock.monotonic() + limit.nanoseconds
    while true {
      let (isOpened, isOver) = state.withLock { ($0.hasOpened, $0.hasEnded || $0.isStopping) }
      if isOpened { return true }
      let left = end - SystemClock.monotonic()
      if isOver || left <= 0 { return false }
      changed.wait(milliseconds: Int32(clamping: left / 1_000_000 + 1))
      changed.clear()
    }
  }
}
