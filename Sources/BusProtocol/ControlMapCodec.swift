// ControlMap to and from MessagePack (the specification at msgpack.org, version of 2013).
internal import Primitives

extension ControlMap {
  public func encode(into bytes: inout [UInt8]) {
    writeHead(fields.count, small: 0x80, limit: 16, wide: 0xDE, into: &bytes)
    for field in fields {
      ControlValue.text(field.key).encode(into: &bytes)
      field.value.encode(into: &bytes)
    }
  }
}

/// A head whose count fits in the type byte, in 16 bits, or in 32.
private func writeHead(
  _ count: Int, small: UInt8, limit: Int, wide: UInt8, into bytes: inout [UInt8]
) {
  if count < limit {
    bytes.append(small | UInt8(count))
  } else if count < 65536 {
    bytes.append(wide)
    bytes.appendBigEndian(UInt16(count))
  } else {
    bytes.append(wide + 1)
    bytes.appendBigEndian(UInt32(count))
  }
}

extension ControlValue {
  func encode(into bytes: inout [UInt8]) {
    switch self {
    case .null: bytes.append(0xC0)
    case .flag(let value): bytes.append(value ? 0xC3 : 0xC2)
    case .number(let value) where value < 128: bytes.append(UInt8(value))
    case .number(let value):
      bytes.append(0xCF)
      bytes.appendBigEndian(value)
    case .negative(let value):
      bytes.append(0xD3)
      bytes.appendBigEndian(value)
    case .double(let value):
      bytes.append(0xCB)
      bytes.appendBigEndian(value.bitPattern)
    case .text(let value):
      writeHead(value.utf8.count, small: 0xA0, limit: 32, wide: 0xDA, into: &bytes)
      bytes.append(contentsOf: value.utf8)
    case .bytes(let value):
      bytes.append(0xC6)
      bytes.appendBigEndian(UInt32(value.count))
      bytes.append(contentsOf: value)
    case .list(let values):
      writeHead(values.count, small: 0x90, limit: 16, wide: 0xDC, into: &bytes)
      for value in values { value.encode(into: &bytes) }
    case .map(let map): map.encode(into: &bytes)
    }
  }
}

struct ControlMapError: Error {
  var reason: String
}

/// Reads one value; `at` is the next byte. Every length is compared with what is left before it is used.
struct ControlMapReader {
  var at: Int

  mutating func value(in bytes: RawSpan, depth: Int) throws(ControlMapError) -> ControlValue {
    let type: UInt8 = try take(bytes)
    switch type {
    case 0x00...0x7F: return .number(UInt64(type))
    case 0x80...0x8F: return .map(try map(bytes, Int(type & 15), depth))
    case 0x90...0x9F: return .list(try list(bytes, Int(type & 15), depth))
    case 0xA0...0xBF: return .text(try text(bytes, Int(type & 31)))
    case 0xC0: return .null
    case 0xC2, 0xC3: return .flag(type == 0xC3)
    case 0xC4: return .bytes(try copy(bytes, Int(try take(bytes, UInt8.self))))
    case 0xC5: return .bytes(try copy(bytes, Int(try take(bytes, UInt16.self))))
    case 0xC6: return .bytes(try copy(bytes, Int(try take(bytes, UInt32.self))))
    case 0xCA: return .double(Double(Float(bitPattern: try take(bytes))))
    case 0xCB: return .double(Double(bitPattern: try take(bytes)))
    case 0xCC: return .number(UInt64(try take(bytes, UInt8.self)))
    case 0xCD: return .number(UInt64(try take(bytes, UInt16.self)))
    case 0xCE: return .number(UInt64(try take(bytes, UInt32.self)))
    case 0xCF: return .number(try take(bytes))
    case 0xD0: return integer(Int64(Int8(bitPattern: try take(bytes))))
    case 0xD1: return integer(Int64(Int16(bitPattern: try take(bytes))))
    case 0xD2: return integer(Int64(Int32(bitPattern: try take(bytes))))
    case 0xD3: return integer(Int64(bitPattern: try take(bytes)))
    case 0xD9: return .text(try text(bytes, Int(try take(bytes, UInt8.self))))
    case 0xDA: return .text(try text(bytes, Int(try take(bytes, UInt16.self))))
    case 0xDB: return .text(try text(bytes, Int(try take(bytes, UInt32.self))))
    case 0xDC: return .list(try list(bytes, Int(try take(bytes, UInt16.self)), depth))
    case 0xDD: return .list(try list(bytes, Int(try take(bytes, UInt32.self)), depth))
    case 0xDE: return .map(try map(bytes, Int(try take(bytes, UInt16.self)), depth))
    case 0xDF: return .map(try map(bytes, Int(try take(bytes, UInt32.self)), depth))
    case 0xE0...0xFF: return .negative(Int64(Int8(bitPattern: type)))
    default:
      throw ControlMapError(reason: "type byte \(type) at \(at - 1) is not used here")
    }
  }

  private func integer(_ value: Int64) -> ControlValue {
    value < 0 ? .negative(value) : .number(UInt64(value))
  }

  private mutating func take<T: FixedWidthInteger & BitwiseCopyable>(
    _ bytes: RawSpan, _ type: T.Type = T.self
  ) throws(ControlMapError) -> T {
    guard at + MemoryLayout<T>.size <= bytes.byteCount else { throw cutOff() }
    defer { at += MemoryLayout<T>.size }
    return bytes.bigEndian(at: at)
  }

  private mutating func copy(_ bytes: RawSpan, _ count: Int) throws(ControlMapError) -> [UInt8] {
    guard at + count <= bytes.byteCount else { throw cutOff() }
    defer { at += count }
    return bytes.extracting(at..<at + count).copied()
  }

  private mutating func text(_ bytes: RawSpan, _ count: Int) throws(ControlMapError) -> String {
    let start = at
    guard let text = String(validating: try copy(bytes, count), as: UTF8.self) else {
      throw ControlMapError(reason: "the text at \(start) is not UTF-8")
    }
    return text
  }

  private mutating func list(
    _ bytes: RawSpan, _ count: Int, _ depth: Int
  ) throws(ControlMapError) -> [ControlValue] {
    guard depth > 0 else { throw ControlMapError(reason: "nested too deeply at \(at)") }
    guard count <= bytes.byteCount - at else { throw cutOff() }
    var values: [ControlValue] = []
    values.reserveCapacity(min(count, 256))
    for _ in 0..<count { values.append(try value(in: bytes, depth: depth - 1)) }
    return values
  }

  private mutating func map(
    _ bytes: RawSpan, _ count: Int, _ depth: Int
  ) throws(ControlMapError) -> ControlMap {
    guard depth > 0 else { throw ControlMapError(reason: "nested too deeply at \(at)") }
    guard count <= 1000, count <= bytes.byteCount - at else { throw cutOff() }
    var map = ControlMap()
    for _ in 0..<count {
      let start = at
      guard case .text(let key) = try value(in: bytes, depth: depth - 1) else {
        throw ControlMapError(reason: "the key at \(start) is not text")
      }
      guard map[key] == nil else {
        throw ControlMapError(reason: "the key at \(start) stands there twice")
      }
      map[key] = try value(in: bytes, depth: depth - 1)
    }
    return map
  }

  private func cutOff() -> ControlMapError { ControlMapError(reason: "cut off at byte \(at)") }
}
