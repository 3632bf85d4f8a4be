internal import BusClient
internal import Primitives
internal import Synchronization

/// What the thread that prepares events and the one that delivers them share: two batches at most.
final class EventFeed: Sendable {
  struct State: Sendable {
    var batches: [FeedBatch] = []
    var failure: BusClientError?
    var isStopping = false
  }

  static let capacity = 2

  private let state = Mutex(State())
  /// Signalled when there is something for the one that delivers.
  let news: WakeSignal
  /// Signalled when there is room.
  private let room: WakeSignal

  init(news: WakeSignal) throws(SystemError) {
    self.news = news
    room = try WakeSignal()
  }

  /// The next batch in order, or as much of it as there is room for.
  func take(_ room: (events: Int, bytes: Int)) -> FeedBatch? {
    let (batch, isLast) = state.withLock { state -> (FeedBatch?, Bool) in
      guard !state.batches.isEmpty else { return (nil, false) }
      let batch = state.batches[0].takeFirst(events: room.events, bytes: room.bytes)
      let isLast = state.batches[0].entries.isEmpty
      if isLast { state.batches.removeFirst() }
      return (batch, isLast)
    }
    if isLast { self.room.signal() }
    return batch
  }

  /// Why no more come.
  var failure: BusClientError? { state.withLock { $0.failure } }

  func stop() {
    state.withLock { $0.isStopping = true }
    room.signal()
  }

  /// Reads the subscriber until it is closed or fails. Runs on a thread of its own.
  func run<Adapter: DestinationAdapter>(
    _ subscriber: Subscriber, _ preparer: consuming EventPreparer<Adapter>
  ) {
    var preparer = preparer
    do throws(BusClientError) {
      while waitForRoom() {
        guard let batch = try subscriber.nextBatch(deadline: .milliseconds(500)) else { continue }
        let prepared = preparer.prepare(batch)
        state.withLock { $0.batches.append(prepared) }
        news.signal()
      }
    } catch {
      state.withLock { $0.failure = error }
      news.signal()
    }
  }

  /// False: it is to stop.
  private func waitForRoom() -> Bool {
    while true {
      let (isStopping, count) = state.withLock { ($0.isStopping, $0.batches.count) }
      if isStopping { return false }
      if count < Self.capacity { return true }
      room.wait()
    }
  }
}
