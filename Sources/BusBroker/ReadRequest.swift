internal import BusProtocol

/// Work for the reader thread: what may touch segment files.
enum ReadRequest: Sendable {
  struct Delivery: Sendable {
    var token: UInt64
    var subscriber: [UInt8]
    var filter: SubscriptionFilter
    var from: Position
    var end: UInt64
    var limitBytes: Int
    var limitEvents: Int
  }

  struct Fetch: Sendable {
    var request: UInt64
    var peer: Peer
    var filter: SubscriptionFilter
    /// Nil: look up `time` first.
    var from: Position?
    var time: Int64
    var end: UInt64
    var limitBytes: Int
    var limitEvents: Int
  }

  /// A batch message for a durable subscriber that is behind the tail.
  case deliver(Delivery)
  case fetch(Fetch)
  /// The offset that a time means, at most `end`, the durable head: for an OPEN that waits for it.
  case openAt(time: Int64, end: UInt64, OpenMessage, Peer, AccessHolder?)
  /// The same for a seek.
  case seekTo(time: Int64, end: UInt64, AdminMessage, Peer)
  case deleteSegments(below: UInt64)
}

/// The reader thread's answers.
enum ReadResult: Sendable {
  struct Delivery: Sendable {
    var token: UInt64
    var filter: SubscriptionFilter
    var from: Position
    var message: [UInt8] = []
    var eventCount = 0
    var deliveries = 0
    var scannedTo: Position
    var unreadable: UnreadableBatches?
    /// The events up to here are not there any more.
    var gap: (to: UInt64, why: String)?
  }

  case delivered(Delivery)
  case fetched(Peer, [UInt8], UnreadableBatches?)
  case open(OpenMessage, Peer, AccessHolder?, offset: UInt64)
  case seek(AdminMessage, Peer, offset: UInt64)
  /// Segment files are gone; the first offset left.
  case deleted(segments: Int, earliest: UInt64)
  /// A file could not be read or deleted: for the log.
  case failed(String)
}
