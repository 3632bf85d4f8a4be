/// A random number generator that gives the same numbers for the same seed, on every machine
/// (xoshiro256**, Blackman and Vigna 2018, seeded by SplitMix64).
///
/// For simulations, jitter and sampling; not for secrets.
public struct SeededRandom: RandomNumberGenerator, Sendable {
  private var s0, s1, s2, s3: UInt64

  public init(seed: UInt64) {
    var state = seed
    func split() -> UInt64 {
      state &+= 0x9E37_79B9_7F4A_7C15
      var z = state
      z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
      z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
      return z ^ (z >> 31)
    }
    s0 = split()
    s1 = split()
    s2 = split()
    s3 = split()
  }

  public mutating func next() -> UInt64 {
    let product = s1 &* 5
    let result = ((product << 7) | (product >> 57)) &* 9
    let t = s1 << 17
    s2 ^= s0
    s3 ^= s1
    s1 ^= s2
    s0 ^= s3
    s2 ^= t
    s3 = (s3 << 45) | (s3 >> 19)
    return result
  }
}

/// Exponential back-off with full jitter: each wait is random between zero and a ceiling that doubles
/// from `base` up to `limit`, so that a fleet which lost one server does not return in step.
public struct Backoff: Sendable {
  public var base: Duration
  public var limit: Duration
  private var attempt = 0

  public init(base: Duration = .milliseconds(100), limit: Duration = .seconds(5)) {
    self.base = base
    self.limit = limit
  }

  public mutating func reset() { attempt = 0 }

  /// The wait before the next attempt.
  public mutating func next(using random: inout some RandomNumberGenerator) -> Duration {
    let ceiling = min(limit.nanoseconds, base.nanoseconds << min(attempt, 20))
    attempt += 1
    return .nanoseconds(Int64.random(in: 0...max(1, ceiling), using: &random))
  }
}
