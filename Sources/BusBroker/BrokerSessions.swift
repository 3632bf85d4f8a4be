internal import BusProtocol
internal import EventJournal

/// A producer that has said HELLO, on one connection.
struct ProducerSession {
  var token: UInt64
  var peer: Peer
  var producer: JournalProducer
  /// Which run of the program: a HELLO of the same run only replaces the connection.
  var instance: [UInt8]
  var client: String
  /// It asked for the right to publish `$forget`.
  var mayForget = false
  /// Whose key its connection has, where the broker asks for keys.
  var holder: AccessHolder?
  var lastSeen: Int64
  /// Batch bytes taken and not yet durable.
  var bytesInFlight = 0
  /// All up to it is durable.
  var durableSequence: UInt64
  var nextOffset: UInt64 = 0
  var events: UInt64 = 0
  var duplicates: UInt64 = 0
}

/// A durable subscriber that has said OPEN, on one connection.
struct SubscriberSession {
  var token: UInt64
  var peer: Peer
  /// Empty: no cursor, no fence.
  var name: [UInt8]
  var instance: [UInt8]
  var client: String
  var filter: SubscriptionFilter
  /// Whose key its connection has, where the broker asks for keys.
  var holder: AccessHolder?
  var lastSeen: Int64

  /// The next offset to look at.
  var position: Position
  /// What CREDIT said, in total since OPEN.
  var creditEvents: UInt64 = 0
  var creditBytes: UInt64 = 0
  /// What was sent, in total since OPEN.
  var sentEvents: UInt64 = 0
  var sentBytes: UInt64 = 0
  /// A cold read is under way; nothing else is sent meanwhile.
  var isReading = false
  /// The head that the last HEAD message named.
  var announcedHead: UInt64?
  var committed: Position

  /// Bytes that the client has not given back: what sits in queues on its account.
  var outstandingBytes: UInt64 { sentBytes - min(sentBytes, returnedBytes) }
  /// Bytes given back: credit beyond the first grant.
  var returnedBytes: UInt64 { creditBytes - min(creditBytes, firstGrant) }
  var firstGrant: UInt64 = 0

  /// Whether a further batch may go. A grant of at least one event and one byte lets one batch pass
  /// whatever its size, so that no batch can be too large for a small credit to ever move.
  var hasCredit: Bool { creditEvents > sentEvents && creditBytes > sentBytes }
}
