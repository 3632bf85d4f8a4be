internal import BusProtocol
internal import Primitives
internal import Synchronization

/// The part of a producer that its thread shares with its owner, and that outlives the owner until the
/// thread has ended.
final class ProducerShared: Sendable {
  let configuration: ProducerConfiguration
  let state: Mutex<ProducerState>
  let wake: WakeSignal
  /// Signalled when memory became free while somebody waits for it.
  let room: WaitSignal
  let connected: WaitSignal

  init(_ configuration: ProducerConfiguration) throws(BusClientError) {
    self.configuration = configuration
    state = Mutex(try ProducerState(configuration))
    room = try WaitSignal()
    connected = try WaitSignal()
    do throws(SystemError) {
      wake = try WakeSignal()
    } catch {
      throw .system(text: error.description)
    }
  }

  /// What one attempt to publish came to.
  private enum Outcome: Sendable {
    case taken(wakes: Bool)
    case full(events: Int, bytes: Int)
  }

  /// Runs `append` under the lock as soon as there is room for one event.
  @inline(__always)
  func publish(
    _ append: (inout ProducerState) throws(BusClientError) -> Bool
  ) throws(BusClientError) {
    while true {
      let outcome = try state.withLock { state throws(BusClientError) -> Outcome in
        if let failure = state.failure { throw failure }
        if state.isClosing { throw .closed }
        guard state.hasRoom else {
          if case .block = configuration.overflow {
            state.roomWaiters += 1
            room.clear()
          }
          return .full(events: state.memoryEvents, bytes: state.memoryBytes)
        }
        return .taken(wakes: try append(&state))
      }
      switch outcome {
      case .taken(let wakes):
        if wakes { wake.signal() }
        return
      case .full(let events, let bytes):
        try waitForRoom(events, bytes)
      }
    }
  }

  private func waitForRoom(_ events: Int, _ bytes: Int) throws(BusClientError) {
    switch configuration.overflow {
    case .throw: throw .full(events: events, bytes: bytes)
    case .spill:
      // The thread makes room on disk, unless that is full as well.
      if state.withLock({ $0.isSpoolFull }) { throw .full(events: events, bytes: bytes) }
      fallthrough
    case .block:
      wake.signal()
      // The time is a safeguard only: whoever frees memory signals.
      _ = room.wait(until: deadline(after: .milliseconds(100)))
      state.withLock { $0.roomWaiters = max(0, $0.roomWaiters - 1) }
    }
  }

  func flush(deadline: Int64, answer: @escaping @Sendable (FlushResult) -> Void) {
    let done = state.withLock { state -> FlushResult? in
      state.closeBatch()
      if state.settled >= state.counters.published || state.activity == .ended {
        return state.flushResult
      }
      state.flushes.append(
        .init(target: state.counters.published, deadline: deadline, answer: answer))
      state.activity = .busy
      return nil
    }
    if let done { answer(done) } else { wake.signal() }
  }

  func flushBlocking(deadline: Int64) -> FlushResult {
    waitFor { flush(deadline: deadline, answer: $0) }
  }

  /// Tells the thread to end when all is settled, or at the deadline.
  func beginClose(deadline: Int64) {
    state.withLock { state in
      state.closeBatch()
      state.isClosing = true
      state.closeDeadline = min(state.closeDeadline, deadline)
      if state.activity != .ended { state.activity = .busy }
    }
    wake.signal()
    room.signal()
  }

  func close(deadline: Int64, answer: @escaping @Sendable (FlushResult) -> Void) {
    beginClose(deadline: deadline)
    // Answered by the thread as its last act.
    let ended = state.withLock { state -> FlushResult? in
      if state.activity == .ended { return state.flushResult }
      state.flushes.append(.init(target: .max, deadline: .max, answer: answer))
      return nil
    }
    if let ended { answer(ended) } else { wake.signal() }
  }

  func closeBlocking(deadline: Int64) -> FlushResult {
    waitFor { close(deadline: deadline, answer: $0) }
  }

  private func waitFor(_ start: (@escaping @Sendable (FlushResult) -> Void) -> Void) -> FlushResult
  {
    let box = ResultBox()
    start { box.set($0) }
    return box.wait()
  }
}

/// Where one thread leaves a result for another.
private final class ResultBox: Sendable {
  private let result = Mutex<FlushResult?>(nil)
  private let signal: WaitSignal?

  init() {
    // Without a file descriptor left, `wait` looks again every so often instead.
    do throws(BusClientError) { signal = try WaitSignal() } catch { signal = nil }
  }

  func set(_ value: FlushResult) {
    result.withLock { $0 = value }
    signal?.signal()
  }

  func wait() -> FlushResult {
    while true {
      if let value = result.withLock({ $0 }) { return value }
      _ = signal?.wait(until: .max)
    }
  }
}
