/// Counts distinct values by their 64-bit hashes: exactly up to a limit, then by HyperLogLog.
///
/// At the change nothing jumps: what the estimate then says too much or too little is taken from it for
/// good, so the number goes on from the exact count. It never falls. In 64 bits two of 10,000 values meet
/// once in 370 billion sets.
struct DistinctSet: Sendable, Equatable {
  /// How many are counted exactly unless a report says otherwise, and the most it may say.
  static let usualExact = 10_000

  private(set) var exact = HashTable64()
  private(set) var sketch: HyperLogLog?
  /// The exact count where the sketch took over, and what the sketch said there.
  private(set) var floor = 0.0
  private(set) var offset = 0.0

  var isExact: Bool { sketch == nil }
  var byteCount: Int { exact.byteCount + (sketch?.byteCount ?? 0) }

  /// Exact, or within `HyperLogLog.error` (one standard deviation).
  var count: UInt64 {
    guard let sketch else { return UInt64(exact.count) }
    let number = max(floor, sketch.estimate + offset)
    // Registers that are all full, as only damage fills them, say infinity.
    return number < 0x1p63 ? UInt64(number.rounded()) : .max
  }

  @inline(__always)
  mutating func insert(_ hash: UInt64, exactly limit: Int = usualExact) {
    if sketch != nil {
      sketch?.insert(hash)
    } else if exact.insert(hash), exact.count > limit {
      change()
    }
  }

  /// A hash that will be inserted soon.
  @inline(__always)
  func prefetch(_ hash: UInt64) { if sketch == nil { exact.prefetch(hash) } }

  mutating func merge(_ other: DistinctSet, exactly limit: Int = usualExact) {
    switch (sketch != nil, other.sketch) {
    case (_, nil): other.exact.forEach { insert($0, exactly: limit) }
    case (false, .some):
      let own = exact
      self = other
      own.forEach { insert($0, exactly: limit) }
    case (true, let others?):
      let atLeast = max(Double(count), Double(other.count))
      sketch?.merge(others)
      // The two corrections say nothing of the union, but it is no smaller than either.
      offset = 0
      floor = atLeast
    }
  }

  /// Takes hashes out while the set is exact; a sketch holds nobody. True when there was one.
  mutating func erase(_ hashes: HashTable64) -> Bool {
    let before = exact.count
    exact.remove(hashes)
    return exact.count < before
  }

  private mutating func change() {
    var sketch = HyperLogLog()
    exact.forEach { sketch.insert($0) }
    floor = Double(exact.count)
    offset = floor - sketch.estimate
    self.sketch = sketch
    exact = HashTable64()
  }
}

extension DistinctSet: StateCoded {
  // kind u8 (0 exact, 1 sparse, 2 dense), then
  //   exact   count, hashes u64 each
  //   sparse  floor f64, offset f64, count, entries u32 each
  //   dense   floor f64, offset f64, registers u8 × 16384
  func encode(to output: inout StateWriter) {
    guard let sketch else {
      output.byte(0)
      output.number(exact.count)
      exact.forEach { output.fixed($0) }
      return
    }
    output.byte(sketch.isDense ? 2 : 1)
    output.double(floor)
    output.double(offset)
    if sketch.isDense {
      output.raw(sketch.dense)
    } else {
      output.number(sketch.sparse.count)
      for entry in sketch.sparse { output.fixed(entry) }
    }
  }

  init(from input: inout StateReader) throws(StateError) {
    let kind = try input.byte()
    guard kind > 0 else {
      for _ in 0..<(try input.count(of: 8)) { _ = exact.insert(try input.fixed(UInt64.self)) }
      return
    }
    floor = try input.double()
    offset = try input.double()
    guard floor >= 0, floor.isFinite, offset.isFinite else { throw input.damaged }
    guard kind == 1 else {
      sketch = HyperLogLog(sparse: [], dense: try input.raw(HyperLogLog.registerCount))
      return
    }
    var restored = HyperLogLog()
    for _ in 0..<(try input.count(of: 4)) {
      let entry = try input.fixed(UInt32.self)
      guard Int(entry >> 8) < HyperLogLog.registerCount else { throw input.damaged }
      restored.set(Int(entry >> 8), UInt8(truncatingIfNeeded: entry))
    }
    sketch = restored
  }
}
