public import BusProtocol
public import EventJournal

/// What a broker is told at its start. Addresses are ZeroMQ endpoints; a port `*` lets the system choose.
public struct BrokerConfiguration: Sendable {
  /// Holds the journal's segments and the cursors. One broker a directory.
  public var directory: String
  public var busAddress = "tcp://127.0.0.1:7400"
  public var liveAddress = "tcp://127.0.0.1:7401"
  public var publishAddress = "tcp://127.0.0.1:7402"
  public var pushAddress = "tcp://127.0.0.1:7403"

  /// Asks everybody who connects for a key (CURVE), and allows what the file `keys` in `directory` says.
  public var asksForKeys = false

  public var durability = JournalDurability.fsync
  public var segmentBytes = 128 << 20
  public var limits = BusLimits()

  /// Events older than this (by journal time) go when everyone has read them.
  public var retentionAge = Duration.seconds(7 * 86400)
  /// Journal bytes above which the oldest go when everyone has read them.
  public var retentionBytes = 10 << 30
  /// Bytes kept for a named subscriber that has not read them; at the limit new events are refused with
  /// DISK_FULL unless `dropUnread`. Zero: half of the disk's free bytes at start.
  public var keepUnreadBytes = 0
  public var dropUnread = false
  /// A named subscriber that has not been seen for so long no longer holds events back.
  public var subscriberIdle = Duration.seconds(14 * 86400)

  /// Ingest that is received and not yet durable, for all producers together.
  public var ingestBytes = 32 << 20
  /// Delivered and not yet credited again, for all subscribers together.
  public var outstandingBytes = 32 << 20
  /// Newest events served from memory.
  public var tailBytes = 24 << 20
  public var maximumNames = 100_000
  public var maximumProducers = 100_000
  /// Named ones known, connected or not; and as many sessions without a name.
  public var maximumSubscribers = 1000
  public var producerIdle = Duration.seconds(7 * 86400)

  public init(directory: String) { self.directory = directory }
}
