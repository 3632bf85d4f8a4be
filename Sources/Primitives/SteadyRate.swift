/// So many things a second, counted from one moment: who was held up does what fell due meanwhile at once.
public struct SteadyRate: Sendable {
  private let perSecond: Double
  private let start: Int64

  /// - Parameter start: by the monotonic clock, in nanoseconds.
  public init(_ perSecond: Double, from start: Int64 = SystemClock.monotonic()) {
    self.perSecond = perSecond
    self.start = start
  }

  /// When the one with this number is due, from 0; centuries ahead at most, however small the rate.
  public func due(_ number: UInt64) -> Int64 {
    start + Int64(min(9e18, Double(number) * 1e9 / perSecond))
  }
}
