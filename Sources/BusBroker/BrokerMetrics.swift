/// Counts since the broker's start. The ledger holds at any moment:
/// `eventsReceived = eventsStored + eventsDuplicate + eventsRefused + events received and not yet durable`.
public struct BrokerMetrics: Hashable, Sendable {
  /// Events that arrived on any port in a frame that could be read.
  public var eventsReceived: UInt64 = 0
  /// Events durable in the journal.
  public var eventsStored: UInt64 = 0
  /// Events of batches that were stored before (sent again after a lost acknowledgement).
  public var eventsDuplicate: UInt64 = 0
  /// Events refused, retriable or not; a client that sends one again is counted again.
  public var eventsRefused: UInt64 = 0
  public var batchesStored: UInt64 = 0
  public var bytesStored: UInt64 = 0
  public var groupsWritten: UInt64 = 0
  public var eventsDelivered: UInt64 = 0
  public var messagesDelivered: UInt64 = 0
  /// Events left out of deliveries because their batch cannot be read; each delivery counts again.
  public var eventsUnreadable: UInt64 = 0
  public var coldReads: UInt64 = 0
  public var commits: UInt64 = 0
  /// Events that the live feed skipped because it was behind; durable subscribers get them.
  public var eventsNotLive: UInt64 = 0
  public var messagesReceived: UInt64 = 0
  /// Messages that were dropped because nothing could be made of them.
  public var messagesDropped: UInt64 = 0
  /// Peers whose queue was full: their sessions were ended.
  public var peersLost: UInt64 = 0
  public var sessionsExpired: UInt64 = 0
  public var sessionsFenced: UInt64 = 0
  public var diskFullEpisodes: UInt64 = 0

  public init() {}
}
