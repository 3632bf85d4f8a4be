public import BusClient
public import SinkState

/// What an aggregator knows of itself, as of its last commit.
public struct AggregatorStatus: Sendable {
  public struct Report: Sendable {
    public var name: String
    public var title: String
    public var kind: String
    public var window: String
    public var zone: String
    public var by: [String]
    public var measures: [String]
    /// In the windows that it keeps, and in those that it kept.
    public var events: UInt64
    public var expired: UInt64
    public var late: UInt64
    public var withoutUser: UInt64
    /// Bytes of its windows in memory.
    public var windowBytes: Int
  }

  /// New reports that count the past beside the others, and how far they are.
  public struct Filling: Sendable {
    public var reports: [String]
    public var offset: UInt64

    init(_ reports: [String], at offset: UInt64) {
      self.reports = reports
      self.offset = offset
    }
  }

  public var isReady = false
  public var isConnected = false
  /// The connection to the bus, for people.
  public var link = BusLink(address: "")
  public var progress: SinkProgress?
  public var head: UInt64 = 0
  /// Events between the cursor and the head.
  public var lag: UInt64 = 0
  /// Nanoseconds since 1970; nil before the first event.
  public var watermark: Int64?
  public var conflicts: UInt64 = 0
  public var joins = 0
  public var joinsLeftOut: UInt64 = 0
  public var forgotten = 0
  public var commits: UInt64 = 0
  public var reports: [Report] = []
  public var filling: Filling?
  /// Why the report file is not used as it stands; empty when it is.
  public var fileTrouble = ""
  /// Why nothing can be stored just now; empty while it can.
  public var trouble = ""

  public init() {}
}
