/// How many events of each name took effect since the aggregator's start: what rates are made of. Names are
/// numbered as they came, and there are no more than the bus takes.
public struct LiveCounts: Sendable {
  public internal(set) var names: [[UInt8]] = []
  public internal(set) var counts: [UInt64] = []

  public init() {}

  mutating func add(_ name: [UInt8]) {
    names.append(name)
    counts.append(0)
  }
}
