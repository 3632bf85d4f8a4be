internal import Primitives

/// Texts: the way without escapes copies; the other decodes.
extension JSONScanner {
  /// Reads a text and writes it; returns how many bytes its characters have.
  @discardableResult
  mutating func text() throws(CodecError) -> Int {
    at += 1
    let start = at
    var isASCII = true
    while true {
      // Eight bytes at a time while none needs a look: no quote, backslash, control or high bit.
      while at + 8 <= count {
        let word = word(at)
        let quote = word ^ 0x2222_2222_2222_2222
        let slash = word ^ 0x5C5C_5C5C_5C5C_5C5C
        let found =
          (word &- 0x2020_2020_2020_2020) | (quote &- 0x0101_0101_0101_0101)
          | (slash &- 0x0101_0101_0101_0101) | word
        if found & 0x8080_8080_8080_8080 != 0 { break }
        at += 8
      }
      guard at < count else { throw error(.cutOff) }
      switch byte(at) {
      case UInt8(ascii: "\""):
        let range = start..<at
        if !isASCII { try validate(range) }
        output.textHead(range.count)
        append(range)
        at += 1
        return range.count
      case UInt8(ascii: "\\"): return try textWithEscapes(from: start)
      case 0..<0x20: throw error(.controlCharacter)
      case 0x80...0xFF:
        isASCII = false
        at += 1
      default: at += 1
      }
    }
  }

  private func validate(_ range: Range<Int>) throws(CodecError) {
    let fault = unsafe withInput(range) { (bytes) -> Int? in
      do throws(UTF8.ValidationError) {
        _ = try unsafe UTF8Span(validating: bytes.bindMemory(to: UInt8.self).span)
        return nil
      } catch {
        return error.byteOffsets.lowerBound
      }
    }
    if let fault { throw error(.notUTF8, at: range.lowerBound + fault) }
  }

  /// `at` is at the first backslash. The decoded text is collected, since its length comes first.
  private mutating func textWithEscapes(from start: Int) throws(CodecError) -> Int {
    var decoded: [UInt8] = []
    var plain = start
    while true {
      guard at < count else { throw error(.cutOff) }
      switch byte(at) {
      case UInt8(ascii: "\""):
        try take(plain..<at, into: &decoded)
        at += 1
        output.textHead(decoded.count)
        unsafe output.append(decoded.span.bytes)
        return decoded.count
      case UInt8(ascii: "\\"):
        try take(plain..<at, into: &decoded)
        at += 1
        try escape(into: &decoded)
        plain = at
      case 0..<0x20: throw error(.controlCharacter)
      default: at += 1
      }
    }
  }

  private func take(_ range: Range<Int>, into decoded: inout [UInt8]) throws(CodecError) {
    try validate(range)
    unsafe withInput(range) { bytes in unsafe decoded.append(contentsOf: bytes) }
  }

  private mutating func escape(into decoded: inout [UInt8]) throws(CodecError) {
    guard at < count else { throw error(.cutOff) }
    let start = at - 1
    let letter = byte(at)
    at += 1
    switch letter {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): decoded.append(letter)
    case UInt8(ascii: "b"): decoded.append(0x08)
    case UInt8(ascii: "f"): decoded.append(0x0C)
    case UInt8(ascii: "n"): decoded.append(0x0A)
    case UInt8(ascii: "r"): decoded.append(0x0D)
    case UInt8(ascii: "t"): decoded.append(0x09)
    case UInt8(ascii: "u"):
      let unit = try hexadecimal()
      if unit & 0xF800 == 0xD800 {
        let low = try lowSurrogate(after: unit, start: start)
        let scalar = 0x10000 + (UInt32(unit & 0x3FF) << 10 | UInt32(low & 0x3FF))
        decoded.append(contentsOf: String(Unicode.Scalar(scalar)!).utf8)
      } else {
        decoded.append(contentsOf: String(Unicode.Scalar(UInt32(unit))!).utf8)
      }
    default: throw error(.escape, at: start)
    }
  }

  private mutating func lowSurrogate(
    after high: UInt16, start: Int
  ) throws(CodecError) -> UInt16 {
    guard high & 0xFC00 == 0xD800, at + 6 <= count, byte(at) == UInt8(ascii: "\\"),
      byte(at + 1) == UInt8(ascii: "u")
    else { throw error(.surrogate, at: start) }
    at += 2
    let low = try hexadecimal()
    guard low & 0xFC00 == 0xDC00 else { throw error(.surrogate, at: start) }
    return low
  }

  private mutating func hexadecimal() throws(CodecError) -> UInt16 {
    guard at + 4 <= count else { throw error(.cutOff) }
    var value: UInt16 = 0
    for _ in 0..<4 {
      let digit: UInt8
      switch byte(at) {
      case let c where c >= UInt8(ascii: "0") && c <= UInt8(ascii: "9"): digit = c - 48
      case let c where c >= UInt8(ascii: "a") && c <= UInt8(ascii: "f"): digit = c - 87
      case let c where c >= UInt8(ascii: "A") && c <= UInt8(ascii: "F"): digit = c - 55
      default: throw error(.escape)
      }
      value = value << 4 | UInt16(digit)
      at += 1
    }
    return value
  }
}
