/// Counts of durations by size, each kept to three significant digits: a high dynamic range histogram.
///
/// A value lies in a power-of-two bucket of 1,024 equal slots, so a slot is never wider than a thousandth
/// of what it holds. 270 KB whatever is recorded; recording takes a few nanoseconds. Two of them add up
/// to what one would have held, so each thread or process keeps its own.
public struct LatencyHistogram: Hashable, Sendable {
  /// The largest value told apart, an hour in nanoseconds; what is longer counts as that (`clamped`).
  public static let maximumValue: Int64 = 3_600_000_000_000

  static let halfBits = 10
  static let half = 1 << halfBits
  static let slots = index(of: maximumValue) + 1

  private(set) var counts: [UInt64]
  public private(set) var count: UInt64 = 0
  /// Values above `maximumValue`, and below zero, which count as those bounds.
  public private(set) var clamped: UInt64 = 0
  /// The largest and smallest value recorded, to a slot's width.
  public private(set) var maximum: Int64 = 0
  public private(set) var minimum: Int64 = .max

  public init() { counts = [UInt64](repeating: 0, count: Self.slots) }

  public var isEmpty: Bool { count == 0 }

  /// - Parameter value: nanoseconds.
  public mutating func record(_ value: Int64, count times: UInt64 = 1) {
    let kept = min(max(value, 0), Self.maximumValue)
    if kept != value { clamped &+= times }
    counts[Self.index(of: kept)] &+= times
    count &+= times
    maximum = max(maximum, kept)
    minimum = min(minimum, kept)
  }

  /// Adds what another one holds.
  public mutating func merge(_ other: LatencyHistogram) {
    for slot in counts.indices { counts[slot] &+= other.counts[slot] }
    count &+= other.count
    clamped &+= other.clamped
    maximum = max(maximum, other.maximum)
    minimum = min(minimum, other.minimum)
  }

  /// The smallest recorded value that at least `percentile` percent do not exceed (nearest rank), as the
  /// upper end of its slot; 0 when nothing was recorded.
  public func value(atPercentile percentile: Double) -> Int64 {
    guard count > 0 else { return 0 }
    let share = min(max(percentile, 0), 100) / 100
    let rank = max(1, min(count, UInt64((share * Double(count)).rounded(.up))))
    var seen: UInt64 = 0
    for slot in counts.indices {
      seen &+= counts[slot]
      if seen >= rank { return min(Self.highest(in: slot), Self.highest(of: maximum)) }
    }
    return maximum
  }

  /// How many values did not exceed `limit`, to its slot's width.
  public func count(upTo limit: Int64) -> UInt64 {
    guard limit >= 0 else { return 0 }
    let last = Self.index(of: min(limit, Self.maximumValue))
    return counts[...last].reduce(0) { $0 &+ $1 }
  }

  /// Of the middles of the slots.
  public var mean: Double {
    guard count > 0 else { return 0 }
    return sum { $0 } / Double(count)
  }

  public var standardDeviation: Double {
    guard count > 0 else { return 0 }
    let mean = mean
    return (sum { ($0 - mean) * ($0 - mean) } / Double(count)).squareRoot()
  }

  private func sum(_ term: (Double) -> Double) -> Double {
    var sum = 0.0
    for (slot, count) in counts.enumerated() where count > 0 {
      let middle = Double(Self.lowest(in: slot) + Self.width(of: slot) / 2)
      sum += term(middle) * Double(count)
    }
    return sum
  }
}

extension LatencyHistogram {
  /// Slots 0 to 2,047 hold one value each; from then on 1,024 slots share a power of two.
  static func index(of value: Int64) -> Int {
    let bits = UInt64(bitPattern: value)
    let shift = 64 - halfBits - 1 - (bits | UInt64(2 * half - 1)).leadingZeroBitCount
    return shift << halfBits + Int(bits >> UInt64(shift))
  }

  static func width(of slot: Int) -> Int64 { 1 << Int64(max(0, slot >> halfBits - 1)) }

  static func lowest(in slot: Int) -> Int64 {
    guard slot >= 2 * half else { return Int64(slot) }
    return Int64(slot & (half - 1) + half) << Int64(slot >> halfBits - 1)
  }

  static func highest(in slot: Int) -> Int64 { lowest(in: slot) + width(of: slot) - 1 }

  static func highest(of value: Int64) -> Int64 { highest(in: index(of: value)) }

  /// The slots that hold anything, for carrying it to another process.
  var filled: [(slot: Int, count: UInt64)] {
    counts.enumerated().filter { $0.element > 0 }.map { (slot: $0.offset, count: $0.element) }
  }

  /// What `filled` and the three others gave; slots that cannot be are left out.
  init(filled: [(slot: Int, count: UInt64)], clamped: UInt64, minimum: Int64, maximum: Int64) {
    self.init()
    for (slot, count) in filled where counts.indices.contains(slot) {
      counts[slot] &+= count
      self.count &+= count
    }
    self.clamped = clamped
    self.minimum = minimum
    self.maximum = maximum
  }
}
