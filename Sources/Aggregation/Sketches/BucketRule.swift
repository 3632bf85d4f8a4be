internal import EventModel

/// How a number becomes one of a few labels.
enum BucketRule: Sendable, Hashable {
  /// Upper bounds, rising: `[10, 100]` makes `< 10`, `10 - 100` (100 itself not in it) and `>= 100`.
  case bounds([Double])
  /// The sample of a bucketed property: the same labels from the same numbers. Parts of a move are cut.
  case moveCountCategory

  static let maximumBounds = 100

  var labels: [String] {
    switch self {
    case .moveCountCategory: MoveCountCategory.allCases.map(\.rawValue)
    case .bounds(let bounds):
      bounds.indices.map { index in
        index == 0
          ? "< \(Self.text(bounds[0]))"
          : "\(Self.text(bounds[index - 1])) - \(Self.text(bounds[index]))"
      } + (bounds.last.map { [">= \(Self.text($0))"] } ?? [])
    }
  }

  /// The label's place in `labels`.
  func index(of value: Double) -> Int {
    switch self {
    case .moveCountCategory:
      // What an Int cannot hold is over 30 or negative all the same.
      let count = Int(max(-1, min(value.rounded(.down), 1e9)))
      let category = MoveCountCategory(moveCount: count)
      return MoveCountCategory.allCases.firstIndex(of: category) ?? 0
    case .bounds(let bounds):
      var low = 0
      var high = bounds.count
      while low < high {
        let middle = (low + high) / 2
        if value < bounds[middle] { high = middle } else { low = middle + 1 }
      }
      return low
    }
  }

  private static func text(_ bound: Double) -> String {
    Int64(exactly: bound).map { "\($0)" } ?? "\(bound)"
  }
}

/// Counts by label.
struct Histogram: Sendable, Equatable {
  private(set) var counts: [UInt64]
  /// Values that are no numbers, or absent.
  private(set) var leftOut: UInt64 = 0

  init(labels: Int) { counts = [UInt64](repeating: 0, count: labels) }

  mutating func insert(label: Int) { counts[label] += 1 }
  mutating func leaveOut() { leftOut += 1 }

  mutating func merge(_ other: Histogram) {
    for (index, count) in other.counts.enumerated() where index < counts.count {
      counts[index] += count
    }
    leftOut += other.leftOut
  }
}

extension Histogram: StateCoded {
  // left out, number of labels, counts
  func encode(to output: inout StateWriter) {
    output.number(leftOut)
    output.number(counts.count)
    for count in counts { output.number(count) }
  }

  init(from input: inout StateReader) throws(StateError) {
    leftOut = try input.events()
    counts = []
    for _ in 0..<(try input.count()) { counts.append(try input.events()) }
  }
}
