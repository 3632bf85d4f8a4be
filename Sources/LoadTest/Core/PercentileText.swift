// The percentile distribution as the HdrHistogram programs print and plot it, times in microseconds:
//
//          Value     Percentile TotalCount 1/(1-Percentile)
//
//         12.303 0.000000000000          1           1.00
//         ...                                             five steps for each halving of the rest
//        903.167 1.000000000000     100000
//   #[Mean    =       31.604, StdDeviation   =       12.870]
//   #[Max     =      903.167, Total count    =       100000]
//   #[Buckets =           32, SubBuckets     =         2048]

/// The lines of a histogram's percentile file.
public struct PercentileText {
  private static let stepsPerHalving = 5.0
  private let histogram: LatencyHistogram

  public init(_ histogram: LatencyHistogram) { self.histogram = histogram }

  public var text: String {
    var text = "       Value     Percentile TotalCount 1/(1-Percentile)\n\n"
    for row in rows { text += line(row) + "\n" }
    let mean = Self.fixed(histogram.mean / 1000, digits: 3, width: 12)
    let deviation = Self.fixed(histogram.standardDeviation / 1000, digits: 3, width: 12)
    let maximum = Self.fixed(micros(histogram.maximum), digits: 3, width: 12)
    let count = Self.padded("\(histogram.count)", 12)
    let buckets = Self.padded("\((LatencyHistogram.slots - 1) >> LatencyHistogram.halfBits)", 12)
    let parts = Self.padded("\(2 * LatencyHistogram.half)", 12)
    return text + "#[Mean    = \(mean), StdDeviation   = \(deviation)]\n"
      + "#[Max     = \(maximum), Total count    = \(count)]\n"
      + "#[Buckets = \(buckets), SubBuckets     = \(parts)]\n"
  }

  struct Row: Hashable {
    var value: Int64
    /// 0 to 1.
    var share: Double
    var count: UInt64
  }

  /// One row each time the asked share is reached, in ever finer steps, and the last value.
  var rows: [Row] {
    guard !histogram.isEmpty else { return [] }
    var rows: [Row] = []
    var level = 0.0
    var seen: UInt64 = 0
    for (slot, count) in histogram.filled {
      seen += count
      let value = LatencyHistogram.highest(in: slot)
      if seen == histogram.count {
        if level < 1 { rows.append(Row(value: value, share: level, count: seen)) }
        rows.append(Row(value: value, share: 1, count: seen))
        break
      }
      while Double(seen) / Double(histogram.count) >= level {
        rows.append(Row(value: value, share: level, count: seen))
        level += Self.step(at: level)
      }
    }
    return rows
  }

  /// The steps halve with each halving of what is left above `level`.
  private static func step(at level: Double) -> Double {
    var halvings = 1.0
    var left = 1 - level
    while left <= 0.5, halvings < 1e15 {
      left *= 2
      halvings *= 2
    }
    return 1 / (stepsPerHalving * halvings * 2)
  }

  private func line(_ row: Row) -> String {
    let text =
      Self.fixed(micros(row.value), digits: 3, width: 12) + " "
      + Self.fixed(row.share, digits: 12, width: 14) + " " + Self.padded("\(row.count)", 10)
    guard row.share < 1 else { return text }
    return text + " " + Self.fixed(1 / (1 - row.share), digits: 2, width: 14)
  }

  private func micros(_ value: Int64) -> Double { Double(value) / 1000 }

  /// `value` with exactly `digits` decimals, right in `width` columns.
  static func fixed(_ value: Double, digits: Int, width: Int) -> String {
    var scale: UInt64 = 1
    for _ in 0..<digits { scale *= 10 }
    let scaled = UInt64(max(0, min(value, 1e18 / Double(scale))) * Double(scale) + 0.5)
    let rest = String(scaled % scale)
    let zeros = String(repeating: "0", count: digits - rest.count)
    return padded("\(scaled / scale).\(zeros)\(rest)", width)
  }

  static func padded(_ text: String, _ width: Int) -> String {
    String(repeating: " ", count: max(0, width - text.utf8.count)) + text
  }
}
