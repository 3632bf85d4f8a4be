/// A place in one line of canonical JSON, and the ways past what nobody wants: eight bytes at a time,
/// without looking at what stands there. Each says false where the line ends too early.
///
/// Lives within one `withUnsafeBytes`; every read is compared with `count` first, so that no line,
/// however damaged, is read beyond its end.
@safe struct LineCursor {
  private let bytes: UnsafeRawBufferPointer
  let count: Int
  var at = 0

  private static let ones: UInt64 = 0x0101_0101_0101_0101
  private static let highs: UInt64 = 0x8080_8080_8080_8080

  @inline(__always)
  init(_ bytes: UnsafeRawBufferPointer) {
    unsafe self.bytes = bytes
    count = bytes.count
  }

  /// Zero beyond the end, which stands nowhere in canonical JSON.
  @inline(__always)
  func byte(_ index: Int) -> UInt8 { index < count ? unsafe bytes[index] : 0 }

  @inline(__always) var next: UInt8 { byte(at) }

  /// Eight bytes, the first the lowest; the caller has compared with `count`.
  @inline(__always)
  private func word(_ index: Int) -> UInt64 {
    unsafe UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self))
  }

  /// Marks the highest bit of the bytes that are zero. Marks above the first may be wrong.
  @inline(__always)
  private static func zeros(_ word: UInt64) -> UInt64 { (word &- ones) & ~word & highs }

  /// Goes over `byte` if it stands here.
  @inline(__always)
  mutating func take(_ byte: UInt8) -> Bool {
    guard next == byte else { return false }
    at += 1
    return true
  }

  /// Whether the key of `branch`, whose text is in `texts`, stands here, with the colon behind it.
  @inline(__always)
  func isAt(_ branch: LineScanner.Branch, _ texts: [UInt8]) -> Bool {
    let end = at + branch.length
    guard end < count, byte(end) == UInt8(ascii: ":") else { return false }
    var index = 0
    if at + 8 <= count {
      if word(at) & branch.mask != branch.word { return false }
      index = 8
    }
    while index < branch.length {
      if texts[branch.start + index] != byte(at + index) { return false }
      index += 1
    }
    return true
  }

  /// Past a text whose first quote stands here.
  @inline(__always)
  mutating func skipText() -> Bool {
    guard take(UInt8(ascii: "\"")) else { return false }
    while true {
      while at + 8 <= count {
        let word = word(at)
        let found =
          Self.zeros(word ^ (0x22 &* Self.ones)) | Self.zeros(word ^ (0x5C &* Self.ones))
        if found != 0 {
          at += found.trailingZeroBitCount >> 3
          break
        }
        at += 8
      }
      guard at < count else { return false }
      switch next {
      case UInt8(ascii: "\""):
        at += 1
        return true
      case UInt8(ascii: "\\"): at += 2
      default: at += 1
      }
    }
  }

  /// Past the value that begins here, whatever it is.
  @inline(__always)
  mutating func skipValue() -> Bool {
    switch next {
    case UInt8(ascii: "\""): return skipText()
    case UInt8(ascii: "{"), UInt8(ascii: "["):
      at += 1
      return skipToEnd(of: 1)
    default: return skipWord()
    }
  }

  /// Past a number, true, false or null.
  @inline(__always)
  private mutating func skipWord() -> Bool {
    let start = at
    while at < count {
      switch next {
      case UInt8(ascii: ","), UInt8(ascii: "}"), UInt8(ascii: "]"): return at > start
      default: at += 1
      }
    }
    return false
  }

  /// Past the end of that many containers, all open here.
  mutating func skipToEnd(of containers: Int) -> Bool {
    var open = containers
    while true {
      while at + 8 <= count {
        let word = word(at)
        // With bit 5 set, { and [ are one byte, } and ] another.
        let lower = word | (0x20 &* Self.ones)
        let found =
          Self.zeros(word ^ (0x22 &* Self.ones)) | Self.zeros(lower ^ (0x7B &* Self.ones))
          | Self.zeros(lower ^ (0x7D &* Self.ones))
        if found != 0 {
          at += found.trailingZeroBitCount >> 3
          break
        }
        at += 8
      }
      guard at < count else { return false }
      switch next {
      case UInt8(ascii: "\""):
        guard skipText() else { return false }
      case UInt8(ascii: "{"), UInt8(ascii: "["):
        open += 1
        at += 1
      case UInt8(ascii: "}"), UInt8(ascii: "]"):
        open -= 1
        at += 1
        if open == 0 { return true }
      default: at += 1
      }
    }
  }
}
