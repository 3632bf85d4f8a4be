/// Which of one producer's events a subscriber got, and what was wrong with their order.
///
/// A million events in order cost one number; each hole costs a range until it is filled.
public struct SequenceTally: Hashable, Sendable {
  /// Holes told apart. Beyond it the oldest counts as lost for good, and what still came of it as a
  /// duplicate: both are faults that the verdict shows.
  public static let maximumHoles = 100_000

  /// Events with a number not seen before.
  public internal(set) var received: UInt64 = 0
  /// Numbers that came again.
  public internal(set) var duplicated: UInt64 = 0
  /// Events that came after one with a higher number.
  public internal(set) var reordered: UInt64 = 0
  /// The number after the highest seen.
  public internal(set) var next: UInt64 = 0
  private var holes: [Range<UInt64>] = []

  public init() {}

  /// Numbers below `next` that have not come.
  public var missing: UInt64 { next - received }

  public mutating func take(_ sequence: UInt64) {
    if sequence == next {
      received += 1
      next += 1
    } else if sequence > next {
      if holes.count == Self.maximumHoles { holes.removeFirst() }
      holes.append(next..<sequence)
      received += 1
      next = sequence + 1
    } else if fill(sequence) {
      received += 1
      reordered += 1
    } else {
      duplicated += 1
    }
  }

  /// How many of the first `published` events did not come.
  public func lost(of published: UInt64) -> UInt64 { published - min(published, received) }

  private mutating func fill(_ sequence: UInt64) -> Bool {
    var (low, high) = (0, holes.count)
    while low < high {
      let middle = (low + high) / 2
      if holes[middle].upperBound <= sequence { low = middle + 1 } else { high = middle }
    }
    guard low < holes.count, holes[low].contains(sequence) else { return false }
    let hole = holes[low]
    var rest: [Range<UInt64>] = []
    if hole.lowerBound < sequence { rest.append(hole.lowerBound..<sequence) }
    if sequence + 1 < hole.upperBound { rest.append(sequence + 1..<hole.upperBound) }
    holes.replaceSubrange(low...low, with: rest)
    return true
  }
}
