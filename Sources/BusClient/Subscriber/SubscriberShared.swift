internal import BusProtocol
internal import Primitives
internal import Synchronization

/// What a subscriber's thread and the program share: the batches that wait, and who waits for them.
final class SubscriberShared: Sendable {
  struct State: Sendable {
    var batches = Queue<EventBatch>()
    /// Taken by the program since the thread last looked.
    var takenEvents = 0
    var takenBytes = 0
    var reader: CheckedContinuation<Void, Never>?
    var commit: Position?
    var commitGuard = CommitGuard()
    var status = SubscriberStatus()
    var failure: BusClientError?
    var isClosing = false
    var hasEnded = false
  }

  let configuration: SubscriberConfiguration
  let state = Mutex(State())
  let wake: WakeSignal
  /// Signalled when a batch came, and at the end: for the one that reads.
  let news: WaitSignal
  /// The same, for one that waits for the first answer or for a commit.
  let changes: WaitSignal

  init(_ configuration: SubscriberConfiguration) throws(BusClientError) {
    self.configuration = configuration
    state.withLock { $0.status.link = BusLink(address: configuration.address) }
    news = try WaitSignal()
    changes = try WaitSignal()
    do throws(SystemError) {
      wake = try WakeSignal()
    } catch {
      throw .system(text: error.description)
    }
  }

  enum Next: Sendable {
    case batch(EventBatch)
    case none
    case ended(BusClientError)
  }

  /// The next batch if one waits. Batches that came before a failure are given out before it.
  func takeNext() -> Next {
    let step = Int(SubscriberCore.creditStep(of: UInt64(max(0, configuration.creditBytes))))
    let (next, wakes) = state.withLock { state -> (Next, Bool) in
      if let batch = state.batches.popFirst() {
        state.takenEvents += batch.creditEvents
        state.takenBytes += batch.messageBytes
        state.status.eventsReceived += UInt64(batch.count)
        state.commitGuard.took(through: batch.end)
        let wakes =
          state.takenBytes >= step || state.takenEvents >= configuration.creditEvents / 4
          || state.batches.isEmpty
        return (.batch(batch), wakes)
      }
      if let failure = state.failure { return (.ended(failure), false) }
      if state.isClosing { return (.ended(.closed), false) }
      news.clear()
      return (.none, false)
    }
    if wakes { wake.signal() }
    return next
  }

  func next(until deadline: Int64) throws(BusClientError) -> EventBatch? {
    while true {
      switch takeNext() {
      case .batch(let batch): return batch
      case .ended(let error): throw error
      case .none: guard news.wait(until: deadline) else { return nil }
      }
    }
  }

  func next() async throws -> EventBatch? {
    while true {
      try Task.checkCancellation()
      switch takeNext() {
      case .batch(let batch): return batch
      case .ended(.closed): return nil
      case .ended(let error): throw error
      case .none: await waitForNews()
      }
    }
  }

  private func waitForNews() async {
    await withTaskCancellationHandler {
      await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
        let ready = state.withLock { state -> CheckedContinuation<Void, Never>? in
          precondition(state.reader == nil, "one task at a time reads a subscriber")
          if !state.batches.isEmpty || state.failure != nil || state.isClosing || Task.isCancelled {
            return continuation
          }
          state.reader = continuation
          return nil
        }
        ready?.resume()
      }
    } onCancel: {
      tell { _ in }
    }
  }

  /// Changes the state and wakes whoever waits for it.
  func tell(_ change: (inout State) -> Void) {
    let reader = state.withLock { state in
      change(&state)
      return state.reader.take()
    }
    reader?.resume()
    news.signal()
    changes.signal()
  }

  func commit(_ position: Position) {
    let isWanted = state.withLock { state in
      guard state.commitGuard.allows(position) else {
        state.status.staleCommits += 1
        return false
      }
      state.commit = position
      return true
    }
    if isWanted { wake.signal() }
  }

  /// Waits until the broker has `position` on disk; false at the deadline.
  func waitForCommit(_ position: Position, until deadline: Int64) throws(BusClientError) -> Bool {
    while true {
      let (isDone, failure) = state.withLock { state in
        let isDone = state.status.committed.map { $0 >= position } ?? false
        if !isDone, state.failure == nil { changes.clear() }
        return (isDone, state.failure)
      }
      if isDone { return true }
      if let failure { throw failure }
      guard changes.wait(until: deadline) else { return false }
    }
  }
}
