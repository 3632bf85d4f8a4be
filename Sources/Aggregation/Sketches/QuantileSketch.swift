/// Quantiles of numbers: exact for the first 1,000, then each within a stated relative error.
///
/// The buckets are cut from the bits of the double itself: an exponent and the first bits after the
/// point, 128 buckets between a power of two and the next, so a value in the middle is at most 0.4 % from
/// any other. No logarithm is taken, so the same numbers come out on every machine. When more than 8,192
/// buckets are filled, neighbours are joined and the error doubles; which ones are filled depends on the
/// values alone, so neither order nor how sketches were merged changes an answer.
struct QuantileSketch: Sendable, Equatable {
  static let exactLimit = 1000
  static let bucketLimit = 8192
  static let finestBits = 7

  /// All values while they are few, unsorted.
  private(set) var values: [Double] = []
  /// Counts by bucket once they are many.
  private(set) var buckets = BucketCounts()
  /// Bits of the fraction that tell buckets apart.
  private(set) var bits = finestBits
  private(set) var count: UInt64 = 0
  private(set) var least = Double.infinity
  private(set) var greatest = -Double.infinity
  /// Then buckets one whole number wide stand for that number.
  private(set) var isWhole = true

  var isExact: Bool { count <= UInt64(Self.exactLimit) }
  var byteCount: Int { values.count * 8 + buckets.byteCount }

  /// The most by which an answer differs from the true value, relative to it; 0 while exact.
  var error: Double { isExact ? 0 : 0.5 / Double(1 << bits) }

  /// - Parameter value: finite; events have no other.
  mutating func insert(_ value: Double) {
    count += 1
    least = min(least, value)
    greatest = max(greatest, value)
    isWhole = isWhole && value == value.rounded()
    guard !isExact else { return values.append(value) }
    if !values.isEmpty { change() }
    add(Self.bucket(value, bits: bits), 1)
  }

  mutating func merge(_ other: QuantileSketch) {
    guard other.count > 0 else { return }
    count += other.count
    least = min(least, other.least)
    greatest = max(greatest, other.greatest)
    isWhole = isWhole && other.isWhole
    guard !isExact else { return values += other.values }
    change()
    while bits > other.bits { coarsen() }
    for value in other.values { add(Self.bucket(value, bits: bits), 1) }
    for (bucket, count) in other.buckets.sorted() {
      add(Self.coarse(bucket, by: other.bits - bits), count)
    }
  }

  /// The value of nearest rank: the smallest that at least this part of all values does not exceed.
  /// Nil when there are none.
  func quantile(_ part: Double) -> Double? { quantiles([part]).first ?? nil }

  /// As `quantile`, for several parts with one sort.
  func quantiles(_ parts: [Double]) -> [Double?] {
    guard count > 0 else { return parts.map { _ in nil } }
    if isExact {
      let sorted = values.sorted()
      return parts.map { sorted[Int(rank(of: $0) - 1)] }
    }
    let sorted = buckets.sorted()
    return parts.map { value(ofRank: rank(of: $0), in: sorted) }
  }

  /// From 1 to `count`. A part such as 0.28 of 25 is 7.000000000000001 in doubles, and means 7.
  private func rank(of part: Double) -> UInt64 {
    let exact = min(max(part, 0), 1) * Double(count)
    let near = exact.rounded()
    let rank = abs(exact - near) < 1e-9 * Double(count) ? near : exact.rounded(.up)
    return min(max(UInt64(rank), 1), count)
  }

  private func value(ofRank rank: UInt64, in sorted: [(bucket: Int32, count: UInt64)]) -> Double {
    if rank == count { return greatest }
    if rank == 1 { return least }
    var passed: UInt64 = 0
    for (bucket, count) in sorted {
      passed += count
      if passed >= rank { return min(max(middle(of: bucket), least), greatest) }
    }
    return greatest
  }

  private mutating func change() {
    for value in values { add(Self.bucket(value, bits: bits), 1) }
    values = []
  }

  private mutating func add(_ bucket: Int32, _ count: UInt64) {
    buckets.add(bucket, count)
    while buckets.count > Self.bucketLimit { coarsen() }
  }

  private mutating func coarsen() {
    var joined = BucketCounts()
    buckets.forEach { joined.add(Self.coarse($0, by: 1), $1) }
    buckets = joined
    bits -= 1
  }
}

/// A bucket's number is the sign, the exponent and the first `bits` of the fraction, all as they stand
/// in the double, shifted down.
extension QuantileSketch {
  @inline(__always)
  static func bucket(_ value: Double, bits: Int) -> Int32 {
    // Both zeros are one value; what is subnormal is as near to it as a double gets.
    guard value.isNormal else { return 0 }
    let magnitude = Int32(truncatingIfNeeded: value.magnitude.bitPattern >> UInt64(52 - bits))
    return value < 0 ? -magnitude : magnitude
  }

  /// The bucket in which this one is when so many bits fewer tell them apart.
  static func coarse(_ bucket: Int32, by bits: Int) -> Int32 {
    bucket < 0 ? -(-bucket >> Int32(bits)) : bucket >> Int32(bits)
  }

  /// Half way between the bucket's ends: neither is further than the stated error.
  private func middle(of bucket: Int32) -> Double {
    guard bucket != 0 else { return 0 }
    let shift = UInt64(52 - bits)
    let low = Double(bitPattern: UInt64(abs(bucket)) << shift)
    let high = Double(bitPattern: (UInt64(abs(bucket)) + 1) << shift)
    if isWhole, high - low <= 1 {
      let whole = low.rounded(.up)
      return bucket < 0 ? -whole : whole
    }
    let middle = high.isFinite ? low + (high - low) / 2 : low
    return bucket < 0 ? -middle : middle
  }
}

extension QuantileSketch: StateCoded {
  // count, least f64, greatest f64, whole u8, bits u8, then
  //   exact   `count` values f64
  //   else    number of buckets, each: bucket zigzag, count
  func encode(to output: inout StateWriter) {
    output.number(count)
    output.double(least)
    output.double(greatest)
    output.byte(isWhole ? 1 : 0)
    output.byte(UInt8(bits))
    guard !isExact else { return values.forEach { output.double($0) } }
    output.number(buckets.count)
    buckets.forEach { bucket, count in
      output.signed(Int64(bucket))
      output.number(count)
    }
  }

  init(from input: inout StateReader) throws(StateError) {
    count = try input.events()
    least = try input.double()
    greatest = try input.double()
    isWhole = try input.byte() == 1
    bits = Int(try input.byte())
    guard bits <= Self.finestBits else { throw input.damaged }
    guard !isExact else {
      for _ in 0..<count { values.append(try input.double()) }
      return
    }
    var left = count
    for _ in 0..<(try input.count(of: 2)) {
      guard let bucket = Int32(exactly: try input.signed()), bucket.magnitude < 2048 << UInt32(bits)
      else { throw input.damaged }
      let more = try input.number()
      guard more <= left else { throw input.damaged }
      left -= more
      buckets.add(bucket, more)
    }
  }
}
