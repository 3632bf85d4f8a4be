/// Finds the highest rate that keeps a condition, such as a p99: doubles the rate until it breaks, then
/// halves the distance between the highest that kept it and the lowest that did not.
///
/// A rate breaks it only when it does so twice: one stall of the machine is no limit of the bus.
public struct RateLadder: Hashable, Sendable {
  /// Two rates closer than this are one.
  public static let precision = 1.05
  /// Below it nothing is looked for.
  public static let lowest = 1.0

  /// The highest rate that kept it so far.
  public private(set) var best: Double?
  private var broken: Double?
  private var rate: Double
  private var hasFailed = false
  private var stepsLeft: Int
  private let highest: Double

  public init(start: Double, highest: Double = .infinity, steps: Int = 24) {
    rate = max(Self.lowest, min(start, highest))
    self.highest = highest
    stepsLeft = steps
  }

  /// The rate to try; nil when `best` is the answer (nil again: no rate kept it).
  public var next: Double? { stepsLeft > 0 ? rate : nil }

  /// What came of `next`.
  public mutating func record(isKept: Bool) {
    precondition(stepsLeft > 0, "the ladder has ended")
    stepsLeft -= 1
    if !isKept, !hasFailed {
      hasFailed = true
      return
    }
    hasFailed = false
    if isKept { best = max(best ?? 0, rate) } else { broken = min(broken ?? .infinity, rate) }
    guard let following = following() else { return stepsLeft = 0 }
    rate = following
  }

  private func following() -> Double? {
    switch (best, broken) {
    case (let best?, nil): return best >= highest ? nil : min(highest, best * 2)
    case (nil, let broken?): return broken <= Self.lowest ? nil : max(Self.lowest, broken / 4)
    case (let best?, let broken?):
      guard broken / best > Self.precision else { return nil }
      return Self.rounded((best * broken).squareRoot())
    case (nil, nil): return nil
    }
  }

  /// Three significant digits: nobody wants to read 48,733.97.
  static func rounded(_ rate: Double) -> Double {
    var scale = 1.0
    while rate / scale >= 1000 { scale *= 10 }
    return (rate / scale).rounded() * scale
  }
}
