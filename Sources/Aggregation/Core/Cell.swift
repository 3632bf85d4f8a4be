/// Which parts a report's cells have, each measure's place among them.
struct CellShape: Sendable, Equatable {
  /// For each distinct set, up to which size it is exact.
  var sets: [Int] = []
  var numbers = 0
  var sketches = 0
  /// For each list of top values, how many it keeps.
  var tops: [Int] = []
  /// For each histogram, how many labels it has.
  var histograms: [Int] = []
  /// Counts of users by step, period or kind: funnels, retention and sessions.
  var tallies = 0
}

/// What one report counts in one window for one group.
///
/// Parts lie in arrays by kind, so that each is changed in place. What is absent takes 8 bytes.
struct Cell: Sendable, Equatable {
  var count: UInt64 = 0
  /// Events that this group may have besides, since it was folded into `other` once.
  var mayMiss: UInt64 = 0
  var sets: [DistinctSet] = []
  var numbers: [NumberSummary] = []
  var sketches: [QuantileSketch] = []
  var tops: [TopValues] = []
  var histograms: [Histogram] = []
  var tallies: [Int64] = []

  init(_ shape: CellShape) {
    if !shape.sets.isEmpty { sets = shape.sets.map { _ in DistinctSet() } }
    if shape.numbers > 0 { numbers = Array(repeating: NumberSummary(), count: shape.numbers) }
    if shape.sketches > 0 { sketches = Array(repeating: QuantileSketch(), count: shape.sketches) }
    if !shape.tops.isEmpty { tops = shape.tops.map { _ in TopValues() } }
    if !shape.histograms.isEmpty { histograms = shape.histograms.map { Histogram(labels: $0) } }
    if shape.tallies > 0 { tallies = Array(repeating: 0, count: shape.tallies) }
  }

  /// Adds another cell of the same shape: as if its events had come here.
  mutating func merge(_ other: Cell, _ shape: CellShape) {
    count += other.count
    mayMiss += other.mayMiss
    for index in shape.sets.indices {
      sets[index].merge(other.sets[index], exactly: shape.sets[index])
    }
    for index in 0..<shape.numbers { numbers[index].merge(other.numbers[index]) }
    for index in 0..<shape.sketches { sketches[index].merge(other.sketches[index]) }
    for index in shape.tops.indices {
      tops[index].merge(other.tops[index], limit: shape.tops[index])
    }
    for index in shape.histograms.indices { histograms[index].merge(other.histograms[index]) }
    for index in 0..<shape.tallies { tallies[index] += other.tallies[index] }
  }

  /// What it holds in memory, about.
  var byteCount: Int {
    var bytes = 128 + tallies.count * 8 + numbers.count * 160
    for set in sets { bytes += 80 + set.byteCount }
    for sketch in sketches { bytes += 80 + sketch.byteCount }
    for top in tops { bytes += 80 + top.byteCount }
    for histogram in histograms { bytes += 48 + histogram.counts.count * 8 }
    return bytes
  }
}

extension Cell {
  // count, may miss, then the parts in the order of the shape, without counts of parts
  func encode(to output: inout StateWriter) {
    output.number(count)
    output.number(mayMiss)
    for set in sets { set.encode(to: &output) }
    for number in numbers { number.encode(to: &output) }
    for sketch in sketches { sketch.encode(to: &output) }
    for top in tops { top.encode(to: &output) }
    for histogram in histograms { histogram.encode(to: &output) }
    for tally in tallies { output.signed(tally) }
  }

  init(from input: inout StateReader, _ shape: CellShape) throws(StateError) {
    count = try input.events()
    mayMiss = try input.events()
    for _ in shape.sets { sets.append(try DistinctSet(from: &input)) }
    for _ in 0..<shape.numbers { numbers.append(try NumberSummary(from: &input)) }
    for _ in 0..<shape.sketches { sketches.append(try QuantileSketch(from: &input)) }
    for _ in shape.tops { tops.append(try TopValues(from: &input)) }
    for labels in shape.histograms {
      let histogram = try Histogram(from: &input)
      guard histogram.counts.count == labels else { throw input.damaged }
      histograms.append(histogram)
    }
    for _ in 0..<shape.tallies {
      let tally = try input.signed()
      guard tally.magnitude < 1 << 56 else { throw input.damaged }
      tallies.append(tally)
    }
  }
}
