public import BusProtocol

public struct AggregatorConfiguration: Sendable {
  /// The bus's address.
  public var bus: String
  /// Where its file is; made if it is not there.
  public var directory: String
  /// The name under which the bus keeps a copy of its cursor, and what it has not read.
  public var name = "aggregator"
  /// Which events; none means all.
  public var filters: [NameFilter] = []
  /// Where an aggregator without a file begins.
  public var start = StartPosition.earliest
  /// The file of report definitions; nil: the usual reports alone.
  public var reports: String?
  /// How far back an event's double is recognised, in offsets.
  public var horizon = 4_000_000
  /// How long counted events may wait to be stored: what answers are behind, and what is counted again
  /// after a kill. Under load up to ten times what storing takes, at most five seconds.
  public var commitInterval = Duration.milliseconds(500)
  /// Bytes of windows kept in memory from one commit to the next.
  public var windowBytes = 48 << 20

  public init(bus: String, directory: String) {
    self.bus = bus
    self.directory = directory
  }
}
