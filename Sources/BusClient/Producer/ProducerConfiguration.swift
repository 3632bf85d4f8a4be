public import BusProtocol
public import Primitives

/// Who a producer is to the broker, which stores each (identity, sequence) once.
public enum ProducerIdentity: Hashable, Sendable {
  /// A new identity for each run; what a spool still holds keeps the identity it was written under.
  case random
  /// The same in every run: 16 bytes made from the name (FNV-1a of 128 bits). One process at a time: the
  /// later one fences the earlier.
  case named(String)
  /// 16 bytes, not all zero.
  case bytes([UInt8])

  var isRandom: Bool { self == .random }

  func bytes(random: () -> UInt64) -> [UInt8] {
    switch self {
    case .random: return randomIdentity(random)
    case .bytes(let bytes): return bytes
    case .named(let name):
      var hash: UInt128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d
      for byte in name.utf8 {
        hash = (hash ^ UInt128(byte)) &* 0x0000_0000_0100_0000_0000_0000_0000_013B
      }
      var bytes: [UInt8] = []
      bytes.appendBigEndian(UInt64(truncatingIfNeeded: hash >> 64))
      bytes.appendBigEndian(UInt64(truncatingIfNeeded: hash))
      return bytes
    }
  }
}

/// 16 bytes, never all zero.
func randomIdentity(_ random: () -> UInt64) -> [UInt8] {
  var bytes: [UInt8] = []
  bytes.appendBigEndian(random() | 1)
  bytes.appendBigEndian(random())
  return bytes
}

/// What `publish` does when the producer holds as much as it may.
public enum ProducerOverflow: Hashable, Sendable {
  /// Blocks the calling thread until there is room. Not from an async function: it would hold one of
  /// Swift's few threads.
  case block
  /// Throws `BusClientError.full`; the event was not taken.
  case `throw`
  /// Writes batches to a SQLite file, which the next run sends if this one does not. Throws `full` when
  /// the file has reached `maximumBytes`.
  case spill(path: String, maximumBytes: Int = 1 << 30)
}

/// An event that the broker, or the limits it stated, did not allow. It will never be stored.
public struct RefusedEvent: Hashable, Sendable {
  public var name: [UInt8]
  public var payload: [UInt8]
  public var code: String
  public var text: String
  /// The number the caller gave the event; nil when it gave none.
  public var sequence: UInt64?
}

public struct ProducerConfiguration: Sendable {
  /// The broker's bus address, as in `tcp://127.0.0.1:7400`. The other addresses are learnt from it.
  public var address: String
  /// What the program calls itself; the broker's `status` shows it.
  public var client: String
  /// Needed where the broker asks for keys.
  public var security = BusSecurity.ofProcess
  public var identity = ProducerIdentity.random

  /// A batch is closed at this many events, these bytes, or this long after its first event, whichever
  /// comes first; and at once when nothing is on its way to the broker.
  public var batchEvents = 500
  public var batchBytes = 256 << 10
  public var linger = Duration.milliseconds(1)

  /// Events and bytes (names and payloads) held in memory until they are acknowledged.
  public var maximumEvents = 1_000_000
  public var maximumBytes = 64 << 20
  public var overflow = ProducerOverflow.block
  /// Batches on their way to the broker at a time.
  public var maximumInFlight = 256

  /// The durable subscribers that alone get the events: the live feed, reads without a name and all
  /// other subscribers skip them. Empty: everybody. At most 255 names of 1 to 200 bytes; a name that
  /// nobody has is not refused. What a spool still holds keeps the addressees it was published to.
  public var addressees: [String] = []

  /// Asks the broker for the right to publish `$forget`, by which every sink erases a person. Only for
  /// administration: an event under that name is refused from every other producer.
  public var mayForget = false

  /// The identity that typed events get. `anonymousID` is made once per run when it is empty.
  public var userID: String?
  public var anonymousID = ""

  /// Called on the producer's own thread; must return soon and must not call back into the producer.
  public var onRefused: (@Sendable (RefusedEvent) -> Void)?
  /// Events that became durable since the last call. The same rules.
  public var onAcknowledged: (@Sendable (_ events: Int) -> Void)?
  public var onNotice: (@Sendable (ConnectionNotice) -> Void)?
  /// What an operator should read of the connection. The same rules.
  public var onReport: (@Sendable (OperatorReport) -> Void)?

  public init(address: String, client: String) {
    self.address = address
    self.client = client
  }

  /// The addressees as they travel.
  func checkedAddressees() throws(BusClientError) -> [[UInt8]] {
    guard addressees.count <= 255 else {
      throw .configuration(text: "\(addressees.count) addressees; at most 255 are allowed")
    }
    let names = addressees.map { Array($0.utf8) }
    for name in names where name.isEmpty || name.count > 200 {
      throw .configuration(
        text: "an addressee of \(name.count.counted("byte")); a subscriber has 1 to 200")
    }
    return names
  }
}

/// News of the connection, for logs. The client acts by itself.
public enum ConnectionNotice: Hashable, Sendable {
  case connected(broker: BrokerDescription)
  /// Nothing was heard for three heartbeats, or the broker said good-bye; the client connects anew.
  case silent(missedHeartbeats: Int)
  /// Nobody has answered for five seconds: told once, and ended by `connected`. The client goes on asking.
  case absent
  /// The broker no longer knew this session, as after its restart.
  case sessionLost
  /// The broker asks to wait: overloaded, disk full, draining.
  case refusedForNow(code: String, text: String)
  /// Subscribers only.
  case gap(SubscriberGap)
  case caughtUp(head: UInt64)
  /// An operator moved the cursor; reading goes on there.
  case sought(to: Position, generation: UInt64)
}

/// What a producer did since it was made; all in events.
public struct ProducerCounters: Hashable, Sendable {
  /// Taken by `publish`, and found in the spool.
  public var published: UInt64 = 0
  /// Durable at the broker.
  public var acknowledged: UInt64 = 0
  /// Refused for good, each reported by `onRefused`.
  public var refused: UInt64 = 0
  /// In rows of the spool that could not be read and were set aside in its file; `onReport` says so.
  public var damaged: UInt64 = 0
  /// Sent more than once.
  public var resent: UInt64 = 0
  /// Written to the spool.
  public var spilled: UInt64 = 0
  /// In the spool now.
  public var inSpool: UInt64 = 0
  public var reconnects: UInt64 = 0

  /// published = acknowledged + refused + damaged + unacknowledged, unless a spool's counts are damaged.
  public var unacknowledged: UInt64 {
    let settled = acknowledged + refused + damaged
    return published > settled ? published - settled : 0
  }

  public init() {}
}

/// What became of all events published before a `flush`.
public struct FlushResult: Hashable, Sendable {
  public var acknowledged: UInt64
  public var refused: UInt64
  /// Set aside: see ``ProducerCounters/damaged``.
  public var damaged: UInt64 = 0
  /// None of these yet; what the spool keeps is counted here too.
  public var unacknowledged: UInt64
  /// Of those, kept on disk for the next run.
  public var spooled: UInt64
  /// Why the producer stopped, if it did.
  public var failure: BusClientError?

  public var isComplete: Bool { unacknowledged == 0 }
}
