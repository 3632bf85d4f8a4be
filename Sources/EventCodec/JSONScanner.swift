internal import Primitives

/// Reads JSON (RFC 8259) from raw bytes and writes the same values as MessagePack, in one pass.
///
/// Strict: no comments, no trailing commas, no NaN, text valid UTF-8, no key twice in one object.
/// Integers keep 64 bits, signed or unsigned; a number with a point or an exponent is a double. Nesting
/// is bounded, so recursion is too. Output goes to `output`, whose memory
/// `PackedOutput.capacity(forJSON:)` reckons.
///
/// Lives within one `withUnsafeBytes`; every read is compared with `count` first.
@safe struct JSONScanner {
  private let input: UnsafeRawBufferPointer
  let count: Int
  var at = 0
  var output: PackedOutput
  /// Where each key of the objects that are open stands in `output`, text only.
  private(set) var keys: [Range<Int>]

  /// - Parameter keys: empty; given so that its memory can be used again.
  init(
    _ input: UnsafeRawBufferPointer, output: UnsafeMutableRawBufferPointer,
    keys: consuming [Range<Int>] = []
  ) {
    unsafe self.input = input
    count = input.count
    unsafe self.output = PackedOutput(output)
    self.keys = keys
  }

  /// Gives the memory of the keys back.
  mutating func takeKeys() -> [Range<Int>] {
    var taken: [Range<Int>] = []
    swap(&taken, &keys)
    return taken
  }

  @inline(__always) func byte(_ index: Int) -> UInt8 { unsafe input[index] }

  @inline(__always) func word(_ index: Int) -> UInt64 {
    unsafe input.loadUnaligned(fromByteOffset: index, as: UInt64.self)
  }

  /// Calls `body` with some of the input.
  func withInput<R>(_ range: Range<Int>, _ body: (UnsafeRawBufferPointer) -> R) -> R {
    unsafe body(UnsafeRawBufferPointer(rebasing: input[range]))
  }

  @inline(__always)
  mutating func append(_ range: Range<Int>) {
    unsafe output.append(UnsafeRawBufferPointer(rebasing: input[range]))
  }

  func error(_ reason: CodecError.Reason, at position: Int? = nil) -> CodecError {
    CodecError(reason, at: position ?? at)
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
  @inline(__always)
  mutating func peek() throws(CodecError) -> UInt8 {
    skipBlanks()
    guard at < count else { throw error(.cutOff) }
    return byte(at)
  }

  @inline(__always)
  mutating func expect(_ character: Unicode.Scalar) throws(CodecError) {
    guard try peek() == UInt8(ascii: character) else { throw error(.syntax) }
    at += 1
  }

  /// One value, whatever it is. `depth` is how many containers may still be opened.
  mutating func value(depth: Int) throws(CodecError) {
    switch try peek() {
    case UInt8(ascii: "\""): try text()
    case UInt8(ascii: "{"): try object(depth: depth)
    case UInt8(ascii: "["): try array(depth: depth)
    case UInt8(ascii: "t"): try word("true", 0xC3)
    case UInt8(ascii: "f"): try word("false", 0xC2)
    case UInt8(ascii: "n"): try word("null", 0xC0)
    default: try number()
    }
  }

  private mutating func word(_ expected: StaticString, _ type: UInt8) throws(CodecError) {
    let length = expected.utf8CodeUnitCount
    guard at + length <= count else { throw error(.cutOff) }
    for index in 0..<length {
      let wanted = unsafe expected.utf8Start[index]
      guard byte(at + index) == wanted else { throw error(.syntax) }
    }
    at += length
    output.append(type)
  }

  private mutating func array(depth: Int) throws(CodecError) {
    guard depth > 0 else { throw error(.tooDeep) }
    at += 1
    let head = output.count
    output.append(0x90)
    var values = 0
    if try peek() == UInt8(ascii: "]") {
      at += 1
    } else {
      while true {
        try value(depth: depth - 1)
        values += 1
        let next = try peek()
        at += 1
        if next == UInt8(ascii: ",") { continue }
        guard next == UInt8(ascii: "]") else { throw error(.syntax, at: at - 1) }
        break
      }
    }
    output.close(head: head, values, small: 0x90, wide: 0xDC)
  }

  private mutating func object(depth: Int) throws(CodecError) {
    guard depth > 0 else { throw error(.tooDeep) }
    let start = at
    at += 1
    let head = output.count
    let firstKey = keys.count
    output.append(0x80)
    if try peek() == UInt8(ascii: "}") {
      at += 1
      return
    }
    while true {
      let key = try keyText()
      keys.append(key)
      try expect(":")
      try value(depth: depth - 1)
      let next = try peek()
      at += 1
      if next == UInt8(ascii: ",") { continue }
      guard next == UInt8(ascii: "}") else { throw error(.syntax, at: at - 1) }
      break
    }
    let members = keys.count - firstKey
    guard isDistinct(firstKey) else { throw error(.duplicateKey, at: start) }
    keys.removeSubrange(firstKey...)
    output.close(head: head, members, small: 0x80, wide: 0xDE)
  }

  /// A key: text, written like any; returns where its characters stand in the output.
  private mutating func keyText() throws(CodecError) -> Range<Int> {
    guard try peek() == UInt8(ascii: "\"") else { throw error(.syntax) }
    let length = try text()
    return output.count - length..<output.count
  }

  /// Whether the keys from `first` on are all different: pair by pair when they are few, else sorted.
  private func isDistinct(_ first: Int) -> Bool {
    guard keys.count - first > 12 else {
      for index in first..<keys.count {
        for other in first..<index where output.isSame(keys[index], keys[other]) { return false }
      }
      return true
    }
    return unsafe output.withWritten { bytes in
      DistinctKeys.repeated(keys[first...], in: unsafe bytes.bytes) == nil
    }
  }
}
