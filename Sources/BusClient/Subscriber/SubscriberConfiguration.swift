public import BusProtocol
public import Primitives

public struct SubscriberConfiguration: Sendable {
  public enum GapPolicy: Hashable, Sendable {
    /// Report it (`EventBatch.gap`, `onNotice`) and go on behind it.
    case `continue`
    /// Throw `BusClientError.gap` where the missing events would have come.
    case stop
  }

  /// The broker's bus address, as in `tcp://127.0.0.1:7400`.
  public var address: String
  /// What the program calls itself; the broker's `status` shows it.
  public var client: String
  /// Needed where the broker asks for keys.
  public var security = BusSecurity.ofProcess
  /// Under it the broker keeps the cursor, and what is not committed stays in the journal. Empty: no
  /// cursor is kept, and any number may read at once.
  public var name: String
  /// Which events; empty means all.
  public var filters: [NameFilter] = []
  /// Where reading begins. A sink that keeps its own cursor gives `.position`.
  public var start = StartPosition.cursor(otherwise: .earliest)
  /// The seek generation a sink has stored with its own cursor: when an operator has moved the cursor
  /// since, that place wins over `start`. Nil: `start` wins.
  public var seekGeneration: UInt64?
  /// Take other filters under a known name.
  public var reset = false
  /// What may be on its way to, or wait for, the program.
  public var creditEvents = 100_000
  public var creditBytes = 4 << 20
  public var onGap = GapPolicy.continue
  /// Called on the subscriber's own thread; must return soon.
  public var onNotice: (@Sendable (ConnectionNotice) -> Void)?
  /// What an operator should read of the connection. The same rules.
  public var onReport: (@Sendable (OperatorReport) -> Void)?

  public init(address: String, client: String, name: String = "") {
    self.address = address
    self.client = client
    self.name = name
  }
}

/// What a subscriber knows of itself and the broker.
public struct SubscriberStatus: Hashable, Sendable {
  /// Nil until the broker answered for the first time.
  public var opened: OpenedMessage?
  public var isConnected = false
  /// The same for people: connected, or what is wrong and what to do.
  public internal(set) var link = BusLink(address: "")
  /// Why the broker does not let it in, or not read this, and what to do; nil while it does. It goes on
  /// asking, slowly.
  public var denial: String?
  /// An operator has paused this name: nothing comes until it is resumed. Known within a second.
  public var isPaused = false
  /// The next offset that will be given out.
  public var position: Position?
  /// The cursor that is durable at the broker.
  public var committed: Position?
  public var head: UInt64 = 0
  /// The events between the cursor of the broker's last word and its head.
  public var lag: UInt64 = 0
  public var seekGeneration: UInt64 = 0
  public var eventsReceived: UInt64 = 0
  /// Delivered again after a connection was lost, and left out.
  public var batchesRepeated: UInt64 = 0
  public var gaps: UInt64 = 0
  /// Commits of batches from before an operator's seek: left out, since they would undo it.
  public var staleCommits: UInt64 = 0
  public var undecodable: UInt64 = 0
  public var reconnects: UInt64 = 0

  public init() {}
}
