import Primitives
import Testing

@testable import LoadTest

@Suite struct LatencyHistogramTests {
  @Test(
    arguments: [
      (0, 0), (1, 1), (2047, 2047), (2048, 2049), (2050, 2051), (4095, 4095), (4096, 4099),
      (1_000_000, 1_000_447), (3_600_000_000_000, 3_601_330_077_695),
    ] as [(Int64, Int64)])
  func `a value shares its slot with those up to a thousandth above`(_ row: (Int64, Int64)) {
    #expect(LatencyHistogram.highest(of: row.0) == row.1)
  }

  @Test func `slots follow each other without hole or overlap`() {
    for slot in 1..<LatencyHistogram.slots {
      #expect(LatencyHistogram.lowest(in: slot) == LatencyHistogram.highest(in: slot - 1) + 1)
      #expect(LatencyHistogram.index(of: LatencyHistogram.lowest(in: slot)) == slot)
      #expect(LatencyHistogram.index(of: LatencyHistogram.highest(in: slot)) == slot)
    }
  }

  @Test func `a percentile is the nearest rank, to three digits`() {
    var histogram = LatencyHistogram()
    for value in 1...100_000 { histogram.record(Int64(value) * 1000) }
    for (percentile, exact) in [
      (0.0, 1000.0), (50, 5e7), (90, 9e7), (99, 9.9e7), (99.9, 9.99e7), (100, 1e8),
    ] {
      let value = Double(histogram.value(atPercentile: percentile))
      #expect(value >= exact && value < exact * 1.001, "p\(percentile) is \(value)")
    }
    #expect(abs(histogram.mean - 50_000_500) < 50_000)
    #expect(histogram.count(upTo: -1) == 0)
    #expect(histogram.count(upTo: 50_000_000) >= 50_000)
    #expect(histogram.count(upTo: 50_000_000) < 50_100)
    #expect(histogram.count(upTo: .max) == 100_000)
  }

  @Test func `random values are found where a sorted list has them`() {
    var random = SeededRandom(seed: 11)
    for _ in 0..<20 {
      var histogram = LatencyHistogram()
      let values = (0..<1000).map { _ in Int64(random.next() >> UInt64(24 + random.next() % 40)) }
      for value in values { histogram.record(value) }
      let sorted = values.map { min($0, LatencyHistogram.maximumValue) }.sorted()
      for percentile in [0.1, 25, 50, 75, 99, 99.9, 100] {
        let rank = Int((percentile / 100 * 1000).rounded(.up))
        #expect(
          histogram.value(atPercentile: percentile)
            == min(
              LatencyHistogram.highest(of: sorted[max(0, rank - 1)]),
              LatencyHistogram.highest(of: sorted[999])))
      }
    }
  }

  @Test func `two halves added up are the whole`() {
    var (all, first, second) = (LatencyHistogram(), LatencyHistogram(), LatencyHistogram())
    var random = SeededRandom(seed: 3)
    for index in 0..<5000 {
      let value = Int64(random.next() >> 30)
      all.record(value)
      if index % 3 == 0 { first.record(value) } else { second.record(value) }
    }
    first.merge(second)
    #expect(first == all)
  }

  @Test func `what lies outside the range counts at its bounds and is told`() {
    var histogram = LatencyHistogram()
    histogram.record(-5)
    histogram.record(.max)
    histogram.record(7)
    #expect(histogram.count == 3)
    #expect(histogram.clamped == 2)
    #expect(histogram.minimum == 0)
    #expect(histogram.maximum == LatencyHistogram.maximumValue)
  }

  @Test func `nothing recorded is zero everywhere`() {
    let histogram = LatencyHistogram()
    #expect(histogram.value(atPercentile: 99) == 0)
    #expect(histogram.mean == 0)
    #expect(PercentileText(histogram).rows.isEmpty)
  }

  @Test func `it survives the way to another process`() throws {
    var result = ProducerResult()
    result.tally.published = 5
    result.tally.acknowledged = 4
    result.gaveUp = true
    for value in [3, 3, 99_999, 123_456_789] as [Int64] { result.lateness.record(value) }
    let bytes = result.bytes
    #expect(try unsafe ProducerResult(bytes.span.bytes) == result)
    var other = SubscriberResult(producers: 2)
    other.tally.sequences[1].take(7)
    other.tally.corrupted = 2
    other.latencies.record(44_000)
    let otherBytes = other.bytes
    let read = try unsafe SubscriberResult(otherBytes.span.bytes)
    #expect(read.latencies == other.latencies)
    #expect(read.tally.sequences.map(\.missing) == [0, 7])
    #expect(throws: MessagePackError.self) { try unsafe ProducerResult(otherBytes.span.bytes) }
  }
}

@Suite struct PercentileTextTests {
  @Test func `the file has the layout that plotters read`() {
    var histogram = LatencyHistogram()
    for value in [1000, 2000, 3000, 4000] as [Int64] { histogram.record(value) }
    let lines = PercentileText(histogram).text.split(
      separator: "\n", omittingEmptySubsequences: false)
    #expect(lines[0] == "       Value     Percentile TotalCount 1/(1-Percentile)")
    #expect(lines[1].isEmpty)
    #expect(lines[2] == "       1.000 0.000000000000          1           1.00")
    #expect(lines[3] == "       1.000 0.100000000000          1           1.11")
    #expect(lines[4] == "       1.000 0.200000000000          1           1.25")
    #expect(lines[5] == "       2.000 0.300000000000          2           1.43")
    #expect(lines.contains("       4.001 1.000000000000          4"))
    let end = lines.suffix(4)
    #expect(
      end.first == "#[Mean    =        2.501, StdDeviation   =        1.118]", "\(end)")
    #expect(end.dropFirst().first == "#[Max     =        4.000, Total count    =            4]")
    #expect(end.dropFirst(2).first == "#[Buckets =           32, SubBuckets     =         2048]")
  }

  @Test func `rows rise and end with everything`() {
    var histogram = LatencyHistogram()
    var random = SeededRandom(seed: 1)
    for _ in 0..<10_000 { histogram.record(Int64(random.next() >> 44)) }
    let rows = PercentileText(histogram).rows
    for (earlier, later) in zip(rows, rows.dropFirst()) {
      #expect(earlier.value <= later.value && earlier.share < later.share)
      #expect(earlier.count <= later.count)
    }
    #expect(
      rows.last
        == PercentileText.Row(
          value: LatencyHistogram.highest(of: histogram.maximum), share: 1, count: 10_000))
    #expect(rows.count < 100)
  }

  @Test(arguments: [
    (1.5, 3, 8, "   1.500"), (0.0005, 3, 5, "0.001"), (12.0, 2, 3, "12.00"), (-1, 1, 0, "0.0"),
  ])
  func `numbers have fixed decimals`(_ row: (Double, Int, Int, String)) {
    #expect(PercentileText.fixed(row.0, digits: row.1, width: row.2) == row.3)
  }
}
