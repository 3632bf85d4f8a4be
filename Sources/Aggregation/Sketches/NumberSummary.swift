/// Sum, least, greatest and mean of the JSON numbers among the values of a property.
///
/// Whole numbers add up exactly, in 128 bits. Doubles are added with Neumaier's correction, so the sum
/// is nearly always the one of exact arithmetic, rounded once. Huge ones are added apart, in a smaller
/// unit, so that 1e308 and 1e308 and -1e308 make 1e308: only a sum that no double holds is none. Texts,
/// true and null are no numbers and are counted as left out, as is what is absent.
struct NumberSummary: Sendable, Equatable {
  private(set) var count: UInt64 = 0
  private(set) var leftOut: UInt64 = 0
  private(set) var wholeSum: Int128 = 0
  private(set) var doubleSum = 0.0
  private(set) var correction = 0.0
  /// The sum of doubles beyond `hugest`, divided by `hugeUnit`.
  private(set) var hugeSum = 0.0
  private(set) var hasDoubles = false
  private(set) var least: Number?
  private(set) var greatest: Number?

  /// A JSON number with its kind: 5 and 5.0 are told apart where they are shown.
  enum Number: Sendable, Equatable {
    case whole(Int128)
    case double(Double)

    var asDouble: Double {
      switch self {
      case .whole(let value): Double(value)
      case .double(let value): value
      }
    }

    /// By value; whole numbers beyond 2^53 are compared exactly with each other.
    func isLess(than other: Number) -> Bool {
      if case .whole(let a) = self, case .whole(let b) = other { return a < b }
      return asDouble < other.asDouble
    }
  }

  mutating func leaveOut() { leftOut += 1 }

  mutating func insert(_ number: Number) {
    count += 1
    switch number {
    case .whole(let value): wholeSum &+= value
    case .double(let value): add(value)
    }
    takeBounds(number, number)
  }

  mutating func merge(_ other: NumberSummary) {
    count += other.count
    leftOut += other.leftOut
    wholeSum &+= other.wholeSum
    if other.hasDoubles {
      add(other.doubleSum)
      add(other.correction)
      hugeSum += other.hugeSum
    }
    if let low = other.least, let high = other.greatest { takeBounds(low, high) }
  }

  /// Nil when there were no numbers.
  var sum: Number? {
    guard count > 0 else { return nil }
    guard hasDoubles else { return .whole(wholeSum) }
    let usual = Double(wholeSum) + (doubleSum + correction)
    // Both parts in the smaller unit first: together they may fit where the huge part alone does not.
    guard hugeSum != 0 else { return .double(usual) }
    return .double((hugeSum + usual / Self.hugeUnit) * Self.hugeUnit)
  }

  /// Infinite where the sum is.
  var mean: Double? { sum.map { $0.asDouble / Double(count) } }

  /// 2^63 of them still have a finite sum.
  private static let hugest = 0x1p+960
  private static let hugeUnit = 0x1p+64

  private mutating func takeBounds(_ low: Number, _ high: Number) {
    if least.map({ low.isLess(than: $0) }) ?? true { least = low }
    if greatest.map({ $0.isLess(than: high) }) ?? true { greatest = high }
  }

  private mutating func add(_ value: Double) {
    hasDoubles = true
    guard value.magnitude < Self.hugest else {
      hugeSum += value / Self.hugeUnit
      return
    }
    let sum = doubleSum + value
    if doubleSum.magnitude >= value.magnitude {
      correction += (doubleSum - sum) + value
    } else {
      correction += (value - sum) + doubleSum
    }
    doubleSum = sum
  }
}

extension NumberSummary: StateCoded {
  // count, left out, whole sum i128, doubles u8 (1, 2 with huge ones) [sum f64, correction f64 [huge f64]],
  // if count: least, greatest
  // a number: kind u8 (0 whole i128, 1 double f64)
  func encode(to output: inout StateWriter) {
    output.number(count)
    output.number(leftOut)
    output.fixed(wholeSum)
    output.byte(!hasDoubles ? 0 : hugeSum == 0 ? 1 : 2)
    if hasDoubles {
      output.double(doubleSum)
      output.double(correction)
    }
    if hugeSum != 0 { output.double(hugeSum) }
    guard let least, let greatest else { return }
    Self.encode(least, to: &output)
    Self.encode(greatest, to: &output)
  }

  init(from input: inout StateReader) throws(StateError) {
    count = try input.events()
    leftOut = try input.events()
    wholeSum = try input.fixed()
    let doubles = try input.byte()
    hasDoubles = doubles != 0
    if hasDoubles {
      doubleSum = try input.double()
      correction = try input.double()
    }
    if doubles == 2 { hugeSum = try input.double() }
    guard count > 0 else { return }
    least = try Self.number(&input)
    greatest = try Self.number(&input)
  }

  private static func encode(_ number: Number, to output: inout StateWriter) {
    switch number {
    case .whole(let value):
      output.byte(0)
      output.fixed(value)
    case .double(let value):
      output.byte(1)
      output.double(value)
    }
  }

  private static func number(_ input: inout StateReader) throws(StateError) -> Number {
    try input.byte() == 0 ? .whole(try input.fixed()) : .double(try input.double())
  }
}
