internal import Primitives

/// A body that is not the document it should be: why, and at which byte of it.
struct BodyError: Error, Hashable {
  var reason: String
  var position: Int
}

/// Finds where the values of a JSON document begin and end, without judging what is in them.
///
/// So one value that is wrong (text that is no UTF-8, a thousand levels, a key twice) is refused alone,
/// by who reads it; only quotes and brackets must match. Never recurses. Lives within one
/// `withUnsafeBytes`.
@safe struct JSONSkipper {
  private let input: UnsafeRawBufferPointer
  let count: Int
  var at: Int

  init(_ input: UnsafeRawBufferPointer, at: Int = 0) {
    unsafe self.input = input
    count = input.count
    self.at = at
  }

  @inline(__always) func byte(_ index: Int) -> UInt8 { unsafe input[index] }

  func error(_ reason: String, at position: Int? = nil) -> BodyError {
    BodyError(reason: reason, position: position ?? at)
  }

  @inline(__always)
  mutating func skipBlanks() {
    while at < count {
      switch byte(at) {
      case 0x20, 0x0A, 0x0D, 0x09: at += 1
      default: return
      }
    }
  }

  /// The next byte that is no blank, not taken.
  mutating func peek() throws(BodyError) -> UInt8 {
    skipBlanks()
    guard at < count else { throw error("it ends too early") }
    return byte(at)
  }

  mutating func expect(_ character: Unicode.Scalar) throws(BodyError) {
    guard try peek() == UInt8(ascii: character) else { throw error("\(character) is expected") }
    at += 1
  }

  /// Nothing but blanks is left.
  mutating func expectEnd() throws(BodyError) {
    skipBlanks()
    guard at == count else { throw error("something follows the document") }
  }

  /// Steps over a value and tells where it was.
  mutating func skipValue() throws(BodyError) -> Range<Int> {
    let first = try peek()
    let start = at
    switch first {
    case UInt8(ascii: "\""): try skipText()
    case UInt8(ascii: "{"), UInt8(ascii: "["): try skipContainer()
    default:
      skipWord()
      guard at > start else { throw error("a value is missing") }
    }
    return start..<at
  }

  /// A number or a word: up to what ends it.
  private mutating func skipWord() {
    while at < count {
      switch byte(at) {
      case UInt8(ascii: ","), UInt8(ascii: "]"), UInt8(ascii: "}"), UInt8(ascii: ":"),
        UInt8(ascii: "\""), 0x20, 0x0A, 0x0D, 0x09:
        return
      default: at += 1
      }
    }
  }

  /// A text, with its quotes.
  @inline(__always)
  mutating func skipText() throws(BodyError) {
    let start = at
    at += 1
    while true {
      // Eight bytes at a time while there is neither quote nor backslash.
      while at + 8 <= count {
        let word = unsafe input.loadUnaligned(fromByteOffset: at, as: UInt64.self)
        let quote = word ^ 0x2222_2222_2222_2222
        let slash = word ^ 0x5C5C_5C5C_5C5C_5C5C
        let found =
          ((quote &- 0x0101_0101_0101_0101) & ~quote)
          | ((slash &- 0x0101_0101_0101_0101) & ~slash)
        if found & 0x8080_8080_8080_8080 != 0 { break }
        at += 8
      }
      guard at < count else { throw error("a text is not closed", at: start) }
      switch byte(at) {
      case UInt8(ascii: "\""):
        at += 1
        return
      case UInt8(ascii: "\\"): at += 2
      default: at += 1
      }
    }
  }

  private mutating func skipContainer() throws(BodyError) {
    let start = at
    var open = 0
    while at < count {
      switch byte(at) {
      case UInt8(ascii: "\""):
        try skipText()
        continue
      case UInt8(ascii: "{"), UInt8(ascii: "["): open += 1
      case UInt8(ascii: "}"), UInt8(ascii: "]"): open -= 1
      default: break
      }
      at += 1
      if open == 0 { return }
    }
    throw error("an object or a list is not closed", at: start)
  }

  /// Calls `body` with each member of the object that begins here: where its key is (without quotes, as
  /// it is written) and its value.
  mutating func forEachMember(
    _ body: (_ key: Range<Int>, _ value: Range<Int>) throws(BodyError) -> Void
  ) throws(BodyError) {
    try expect("{")
    if try peek() == UInt8(ascii: "}") {
      at += 1
      return
    }
    while true {
      guard try peek() == UInt8(ascii: "\"") else { throw error("a key is expected") }
      let start = at + 1
      try skipText()
      let key = start..<at - 1
      try expect(":")
      try body(key, try skipValue())
      if try isEnd(UInt8(ascii: "}")) { return }
    }
  }

  /// Calls `body` with each element of the list that begins here.
  mutating func forEachElement(
    _ body: (Range<Int>) throws(BodyError) -> Void
  ) throws(BodyError) {
    try expect("[")
    if try peek() == UInt8(ascii: "]") {
      at += 1
      return
    }
    while true {
      try body(try skipValue())
      if try isEnd(UInt8(ascii: "]")) { return }
    }
  }

  /// Takes a comma, or the closing bracket: then true.
  private mutating func isEnd(_ bracket: UInt8) throws(BodyError) -> Bool {
    let next = try peek()
    guard next == UInt8(ascii: ",") || next == bracket else {
      throw error("a comma or the end is expected")
    }
    at += 1
    return next == bracket
  }

  /// Whether a place holds just this text.
  func holds(_ range: Range<Int>, _ text: StaticString) -> Bool {
    guard range.count == text.utf8CodeUnitCount else { return false }
    for offset in 0..<range.count {
      let wanted = unsafe text.utf8Start[offset]
      if byte(range.lowerBound + offset) != wanted { return false }
    }
    return true
  }
}
