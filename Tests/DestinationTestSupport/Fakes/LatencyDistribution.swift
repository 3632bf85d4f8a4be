internal import Foundation
internal import Primitives

/// How long answers take: a log-normal distribution by its median and its 99th percentile, as real
/// providers have it.
public struct LatencyDistribution: Hashable, Sendable {
  public var median: Double
  public var percentile99: Double

  /// `20,400`: milliseconds.
  init?(_ text: String) {
    let parts = text.split(separator: ",").compactMap { Double($0) }
    guard parts.count == 2, parts[0] > 0, parts[1] >= parts[0], parts[1] < 1e6 else { return nil }
    (median, percentile99) = (parts[0], parts[1])
  }

  func milliseconds(by random: inout SeededRandom) -> Int {
    // Box and Muller; 2.326 deviations are the 99th percentile.
    let (a, b) = (
      Double.random(in: 1e-9..<1, using: &random), Double.random(in: 0..<1, using: &random)
    )
    let deviations = (-2 * log(a)).squareRoot() * cos(2 * .pi * b)
    return Int(median * exp(deviations * log(percentile99 / median) / 2.326))
  }
}
