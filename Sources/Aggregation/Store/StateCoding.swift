// How state is written in the aggregator's own tables: numbers as LEB128 (7 bits a byte, the lowest
// first, the high bit set on all but the last), signed ones zigzag, fixed ones big endian, texts and
// lists with their count before them. A version stands at the head of each blob; see WindowState.swift.
internal import Primitives

/// What can be kept in a table.
protocol StateCoded {
  func encode(to output: inout StateWriter)
  init(from input: inout StateReader) throws(StateError)
}

/// Bytes of a table that are not what this program writes.
public struct StateError: Error, Hashable, Sendable, CustomStringConvertible {
  var position: Int
  public var description: String { "the stored state is damaged at byte \(position)" }
}

struct StateWriter {
  var bytes: [UInt8] = []

  mutating func byte(_ value: UInt8) { bytes.append(value) }

  mutating func number(_ value: UInt64) {
    var rest = value
    while rest >= 0x80 {
      bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    bytes.append(UInt8(rest))
  }

  mutating func number(_ value: Int) { number(UInt64(value)) }

  mutating func signed(_ value: Int64) {
    number(UInt64(bitPattern: value << 1 ^ value >> 63))
  }

  mutating func fixed<T: FixedWidthInteger & BitwiseCopyable>(_ value: T) {
    bytes.appendBigEndian(value)
  }

  mutating func double(_ value: Double) { fixed(value.bitPattern) }

  mutating func raw(_ value: [UInt8]) { bytes += value }

  mutating func text(_ value: [UInt8]) {
    number(value.count)
    bytes += value
  }

  mutating func list<T: StateCoded>(_ values: [T]) {
    number(values.count)
    for value in values { value.encode(to: &self) }
  }
}

/// Never traps and never believes a count: each is compared with the bytes that are left.
struct StateReader {
  private let bytes: [UInt8]
  private var at = 0

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  var damaged: StateError { StateError(position: at) }
  var isAtEnd: Bool { at == bytes.count }

  mutating func byte() throws(StateError) -> UInt8 {
    guard at < bytes.count else { throw damaged }
    defer { at += 1 }
    return bytes[at]
  }

  mutating func number() throws(StateError) -> UInt64 {
    var value: UInt64 = 0
    var shift: UInt64 = 0
    while true {
      let next = try byte()
      guard shift < 63 || next <= 1 else { throw damaged }
      value |= UInt64(next & 0x7F) << shift
      if next < 0x80 { return value }
      shift += 7
    }
  }

  /// How many events: far more than can be counted, far less than sums of some can take.
  mutating func events() throws(StateError) -> UInt64 {
    let value = try number()
    guard value < 1 << 48 else { throw damaged }
    return value
  }

  mutating func signed() throws(StateError) -> Int64 {
    let value = try number()
    return Int64(bitPattern: value >> 1) ^ -Int64(bitPattern: value & 1)
  }

  /// A count of things that take so many bytes at least.
  mutating func count(of size: Int = 1) throws(StateError) -> Int {
    let value = try number()
    guard value <= UInt64((bytes.count - at) / size) else { throw damaged }
    return Int(value)
  }

  mutating func fixed<T: FixedWidthInteger & BitwiseCopyable>(
    _ type: T.Type = T.self
  ) throws(StateError) -> T {
    guard bytes.count - at >= MemoryLayout<T>.size else { throw damaged }
    defer { at += MemoryLayout<T>.size }
    return unsafe bytes.span.bytes.bigEndian(at: at)
  }

  mutating func double() throws(StateError) -> Double { Double(bitPattern: try fixed()) }

  mutating func raw(_ count: Int) throws(StateError) -> [UInt8] {
    guard bytes.count - at >= count else { throw damaged }
    defer { at += count }
    return Array(bytes[at..<at + count])
  }

  mutating func text() throws(StateError) -> [UInt8] { Array(bytes[try textRange()]) }

  /// Where the bytes of a text are.
  mutating func textRange() throws(StateError) -> Range<Int> {
    let count = try count()
    defer { at += count }
    return at..<at + count
  }

  mutating func list<T: StateCoded>(
    _ type: T.Type = T.self
  ) throws(StateError) -> [T] {
    var values: [T] = []
    for _ in 0..<(try count()) { values.append(try T(from: &self)) }
    return values
  }
}
