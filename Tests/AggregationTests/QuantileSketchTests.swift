import Primitives
import Testing

@testable import Aggregation

@Suite struct QuantileSketchTests {
  private func sketch(_ values: [Double]) -> QuantileSketch {
    values.reduce(into: QuantileSketch()) { $0.insert($1) }
  }

  /// By the definition, from all values.
  private func nearestRank(_ sorted: [Double], _ percent: Int) -> Double {
    sorted[max(0, (sorted.count * percent + 99) / 100 - 1)]
  }

  @Test func `few values are exact by nearest rank, and never fall`() {
    let values = [
      2.5, 6.25, 11, 13.75, 14.125, 36.5, 47.25, 58, 61.5, 70.75, 79, 84.375, 88.5, 93.25,
    ]
    let found = sketch(values.reversed()).quantiles((90...100).map { Double($0) / 100 })
    #expect(found == [88.5, 88.5, 88.5] + [Double?](repeating: 93.25, count: 8))
    #expect(sketch(values).quantile(0.5) == 47.25)
  }

  @Test func `many values are within the stated error at every rank`() {
    var random = SystemRandomNumberGenerator()
    var values: [Double] = []
    for _ in 0..<50_000 {
      values.append(Double.random(in: -1...1, using: &random) * 1e6)
      values.append(Double.random(in: 0...1, using: &random) / 1e6)
    }
    let sketch = sketch(values)
    values.sort()
    #expect(!sketch.isExact && sketch.error < 0.004)
    for percent in 0...100 {
      let truth = nearestRank(values, percent)
      let found = sketch.quantile(Double(percent) / 100) ?? .nan
      #expect(abs(found - truth) <= sketch.error * abs(truth) + 1e-300, "p\(percent)")
    }
  }

  @Test func `whole numbers below 256 stay whole`() {
    let sketch = sketch((0..<10_000).map { Double($0 % 200) })
    #expect(sketch.quantiles([0.25, 0.5, 1]) == [49, 99, 199])
  }

  @Test func `order and merging change nothing`() {
    var values = (1...30_000).map { Double($0 * 7919 % 30_011) * 1.37 }
    let whole = sketch(values)
    values.shuffle()
    var merged = QuantileSketch()
    for part in stride(from: 0, to: values.count, by: 700) {
      merged.merge(sketch(Array(values[part..<min(part + 700, values.count)])))
    }
    #expect(merged == whole)
  }

  @Test func `a value from everywhere doubles the error, not the memory`() {
    var sketch = QuantileSketch()
    var value = 1e-300
    while value < 1e300 {
      for step in 0..<40 { sketch.insert(value * (1 + Double(step) / 41)) }
      value *= 2
    }
    #expect(sketch.buckets.count <= QuantileSketch.bucketLimit)
    #expect(sketch.error == 0.125)
  }

  @Test(arguments: [0, 1, 900, 5000]) func `state reads back as it was`(size: Int) throws {
    let sketch = sketch((0..<size).map { Double($0) * 1.5 - 100 })
    var writer = StateWriter()
    sketch.encode(to: &writer)
    var reader = StateReader(writer.bytes)
    #expect(try QuantileSketch(from: &reader) == sketch)
    #expect(reader.isAtEnd)
  }

  @Test func `counts that damage made too large are refused`() {
    for count in [UInt64.max, 1 << 62, 5000] {
      var writer = StateWriter()
      writer.number(count)
      for value in [1.0, 9] { writer.double(value) }
      for byte in [1, 7] as [UInt8] { writer.byte(byte) }
      writer.number(2)
      // Together they are more than were counted.
      for bucket in [40, 41] as [Int64] {
        writer.signed(bucket)
        writer.number(min(count, 1 << 61) - 1)
      }
      #expect(throws: StateError.self) {
        var reader = StateReader(writer.bytes)
        _ = try QuantileSketch(from: &reader)
      }
    }
  }
}
