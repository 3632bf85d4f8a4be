/// Numbers: integers exact to 64 bits, doubles exact by two ways.
extension JSONScanner {
  mutating func number() throws(CodecError) {
    let start = at
    let isNegative = byte(at) == UInt8(ascii: "-")
    if isNegative { at += 1 }
    guard at < count, isDigit(byte(at)) else {
      throw isNegative
        ? error(.number, at: start) : error(startsNumber(start) ? .number : .syntax, at: start)
    }
    var mantissa: UInt64 = 0
    var digits = 0
    var overflowed = false
    if byte(at) == UInt8(ascii: "0") {
      at += 1
      guard at >= count || !isDigit(byte(at)) else { throw error(.number, at: start) }
    } else {
      takeDigits(&mantissa, &digits, &overflowed)
    }
    guard at < count, isFraction(byte(at)) else {
      return try integer(mantissa, isNegative, overflowed, start: start)
    }
    var exponent = 0
    if byte(at) == UInt8(ascii: ".") {
      at += 1
      let before = at
      takeDigits(&mantissa, &digits, &overflowed)
      guard at > before else { throw error(.number, at: start) }
      exponent = before - at
    }
    if at < count, byte(at) | 0x20 == UInt8(ascii: "e") {
      exponent += try exponentPart(start)
    }
    try double(mantissa, exponent, isNegative, overflowed, start: start)
  }

  private func startsNumber(_ index: Int) -> Bool {
    switch byte(index) {
    case UInt8(ascii: "+"), UInt8(ascii: "."), UInt8(ascii: "N"), UInt8(ascii: "I"): true
    default: false
    }
  }

  @inline(__always) private func isDigit(_ byte: UInt8) -> Bool { byte &- 48 < 10 }

  @inline(__always) private func isFraction(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: ".") || byte | 0x20 == UInt8(ascii: "e")
  }

  @inline(__always)
  private mutating func takeDigits(
    _ mantissa: inout UInt64, _ digits: inout Int, _ overflowed: inout Bool
  ) {
    while at < count, isDigit(byte(at)) {
      let (tens, a) = mantissa.multipliedReportingOverflow(by: 10)
      let (sum, b) = tens.addingReportingOverflow(UInt64(byte(at) &- 48))
      overflowed = overflowed || a || b
      mantissa = sum
      digits += 1
      at += 1
    }
  }

  private mutating func exponentPart(_ start: Int) throws(CodecError) -> Int {
    at += 1
    var isNegative = false
    if at < count, byte(at) == UInt8(ascii: "-") || byte(at) == UInt8(ascii: "+") {
      isNegative = byte(at) == UInt8(ascii: "-")
      at += 1
    }
    let before = at
    var value = 0
    while at < count, isDigit(byte(at)) {
      // Far beyond any double, so that a long exponent cannot overflow.
      value = min(value * 10 + Int(byte(at) - 48), 1_000_000)
      at += 1
    }
    guard at > before else { throw error(.number, at: start) }
    return isNegative ? -value : value
  }

  private mutating func integer(
    _ magnitude: UInt64, _ isNegative: Bool, _ overflowed: Bool, start: Int
  ) throws(CodecError) {
    guard !overflowed else { throw error(.numberTooLarge, at: start) }
    if isNegative {
      guard magnitude <= UInt64(Int64.max) + 1 else { throw error(.numberTooLarge, at: start) }
      output.integer(Int64(truncatingIfNeeded: 0 &- magnitude))
    } else {
      output.integer(magnitude)
    }
  }

  private mutating func double(
    _ mantissa: UInt64, _ exponent: Int, _ isNegative: Bool, _ overflowed: Bool, start: Int
  ) throws(CodecError) {
    let value: Double
    if !overflowed, mantissa <= 1 << 53, abs(exponent) <= 22 {
      // Both numbers are exact doubles, so one correctly rounded operation gives the right answer
      // (Clinger, "How to Read Floating Point Numbers Accurately", 1990).
      let power = Self.powers[abs(exponent)]
      let magnitude = exponent < 0 ? Double(mantissa) / power : Double(mantissa) * power
      value = isNegative ? -magnitude : magnitude
    } else {
      value = unsafe withInput(start..<at) { bytes in
        unsafe Double(String(decoding: bytes, as: UTF8.self)) ?? .infinity
      }
    }
    guard value.isFinite else { throw error(.numberTooLarge, at: start) }
    output.append(0xCB, value.bitPattern)
  }

  private static let powers: [Double] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16,
    1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
  ]
}
