public import BusProtocol
internal import Primitives
internal import Synchronization

/// Reads events in journal order, at least once from its cursor, at its own pace.
///
/// One thread of its own talks to the broker, keeps at most the configured credit waiting, and connects
/// again by itself where it was. One task or thread reads it at a time; everything else may be called
/// from any.
public final class Subscriber: Sendable {
  let shared: SubscriberShared

  /// Starts the subscriber's thread; does not wait for the broker.
  public init(_ configuration: SubscriberConfiguration) throws(BusClientError) {
    try BusConnection.check(configuration.address, configuration.security)
    shared = try SubscriberShared(configuration)
    try SubscriberLoop.start(shared)
  }

  deinit { close() }

  /// The batches as they come, until `close`. Taking one gives its credit back, so that as much again is
  /// on its way while the program works on it.
  ///
  /// The iterator throws `BusClientError`: `.fenced` when another process took the name, `.gap` when the
  /// policy is to stop, `.refused` when the broker does not want it.
  public var batches: Batches { Batches(subscriber: self) }

  public struct Batches: AsyncSequence, Sendable {
    let subscriber: Subscriber

    public func makeAsyncIterator() -> Iterator { Iterator(subscriber: subscriber) }

    public struct Iterator: AsyncIteratorProtocol {
      let subscriber: Subscriber
      public mutating func next() async throws -> EventBatch? {
        try await subscriber.shared.next()
      }
    }
  }

  /// The next batch, blocking the calling thread; nil when none came by the deadline. For tools and for
  /// sinks that work on a thread of their own.
  public func nextBatch(deadline duration: Duration? = nil) throws(BusClientError) -> EventBatch? {
    try shared.next(until: deadline(after: duration))
  }

  /// Asks the broker to keep the cursor behind this batch. Returns at once; commits are grouped, and the
  /// latest wins. After an operator's seek only what was taken since can be committed; a batch from
  /// before it is counted (`staleCommits`) and left out.
  public func commit(_ batch: EventBatch) { commit(batch.end) }
  public func commit(_ position: Position) { shared.commit(position) }

  /// Waits until the broker has the cursor on disk; false at the deadline. Blocks.
  public func waitForCommit(
    _ position: Position, deadline duration: Duration
  ) throws(BusClientError) -> Bool {
    try shared.waitForCommit(position, until: deadline(after: duration))
  }

  public var status: SubscriberStatus { shared.state.withLock { $0.status } }

  /// Waits for the broker's first answer; false at the deadline. Blocks. From then on nothing that is
  /// published is missed: the ready sign.
  public func waitUntilOpened(deadline duration: Duration) throws(BusClientError) -> Bool {
    let end = deadline(after: duration)
    while true {
      let (isOpen, failure) = shared.state.withLock { state in
        let isOpen = state.status.opened != nil
        if !isOpen, state.failure == nil { shared.changes.clear() }
        return (isOpen, state.failure)
      }
      if isOpen { return true }
      if let failure { throw failure }
      guard shared.changes.wait(until: end) else { return false }
    }
  }

  /// The same for who does not want to wait until a denial is lifted.
  ///
  /// - Throws: `.denied` as soon as the broker says so.
  public func waitUntilLetIn(deadline duration: Duration) throws(BusClientError) -> Bool {
    let end = deadline(after: duration)
    while true {
      let (status, failure) = shared.state.withLock { state in
        if state.status.opened == nil, state.failure == nil { shared.changes.clear() }
        return (state.status, state.failure)
      }
      if status.opened != nil { return true }
      if let failure { throw failure }
      if let denial = status.denial { throw .denied(text: denial) }
      guard shared.changes.wait(until: end) else { return false }
    }
  }

  /// Ends the session. What was not committed is delivered again to the next one of this name. Returns at
  /// once; a program that ends right behind it may leave the name in use until the broker misses it.
  public func close() {
    shared.tell { $0.isClosing = true }
    shared.wake.signal()
  }

  /// The same, and waits until the broker has let the name go; false at the deadline. Blocks.
  @discardableResult
  public func closeBlocking(deadline duration: Duration = .seconds(1)) -> Bool {
    close()
    let end = deadline(after: duration)
    while true {
      let hasEnded = shared.state.withLock { state in
        if !state.hasEnded { shared.changes.clear() }
        return state.hasEnded
      }
      if hasEnded { return true }
      guard shared.changes.wait(until: end) else { return false }
    }
  }
}
