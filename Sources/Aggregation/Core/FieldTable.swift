internal import EventCodec
internal import Primitives

/// The values that reports look at, each found once an event however many reports want it.
struct FieldTable: Sendable {
  /// What a value that is absent reads as: MessagePack's nil.
  static let absent = 0..<0

  private(set) var paths: [[[UInt8]]] = []
  /// Properties by their key: these are found in one pass over the map.
  private var properties: [(key: [UInt8], field: Int)] = []
  private var others: [Int] = []
  private static let propertiesKey = Array("properties".utf8)

  var isEmpty: Bool { paths.isEmpty }

  /// The field's number, given now if it is new.
  mutating func number(of path: [[UInt8]]) -> Int {
    if let known = paths.firstIndex(of: path) { return known }
    let field = paths.count
    paths.append(path)
    if path.count == 2, path[0] == Self.propertiesKey {
      properties.append((path[1], field))
    } else {
      others.append(field)
    }
    return field
  }

  /// Where each field's value stands in `payload`, by number; `absent` where there is none.
  /// They begin at `base` of `values`.
  func read(
    _ payload: RawSpan, into values: inout [Range<Int>], at base: Int
  ) throws(MessagePackError) {
    for field in paths.indices { values[base + field] = Self.absent }
    let envelope = PayloadReader(payload)
    if !properties.isEmpty, let map = try envelope.range(of: "properties") {
      try readProperties(payload, at: map.lowerBound, into: &values, base)
    }
    for field in others {
      values[base + field] = try envelope.range(at: paths[field]) ?? Self.absent
    }
  }

  private func readProperties(
    _ payload: RawSpan, at start: Int, into values: inout [Range<Int>], _ base: Int
  ) throws(MessagePackError) {
    var reader = MessagePackReader(payload, at: start)
    let type = try reader.peek()
    guard type & 0xF0 == 0x80 || type == 0xDE || type == 0xDF else { return }
    var left = properties.count
    for _ in 0..<(try reader.readMapHeader()) {
      let key = try reader.readStringRange()
      let from = reader.position
      try reader.skip()
      for property in properties where property.key.count == key.count {
        guard unsafe payload.extracting(key).isEqual(to: property.key.span.bytes) else { continue }
        // Of a key that stands there twice the first counts.
        guard values[base + property.field].isEmpty else { continue }
        values[base + property.field] = from..<reader.position
        left -= 1
      }
      if left == 0 { return }
    }
  }
}

/// One value of a payload, as reports see it.
enum FieldValue {
  /// The JSON number at a place; nil for anything else.
  static func number(
    _ payload: RawSpan, _ range: Range<Int>
  ) throws(MessagePackError) -> NumberSummary.Number? {
    guard !range.isEmpty else { return nil }
    var reader = MessagePackReader(payload, at: range.lowerBound)
    switch try reader.peek() {
    case 0x00...0x7F, 0xE0...0xFF, 0xCC...0xCE, 0xD0...0xD3:
      return .whole(Int128(try reader.readInt()))
    case 0xCF: return .whole(Int128(try reader.readUInt()))
    case 0xCA, 0xCB: return .double(try reader.readDouble())
    default: return nil
    }
  }
}
