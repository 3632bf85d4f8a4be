internal import EventCodec
internal import EventModel
internal import Primitives

/// The `value` and the `custom_fields` of a design event.
struct GameAnalyticsFields {
  let plan: PropertyPlan
  /// Only design events have one.
  var hasValue = true
  /// Fields of the event's category already.
  var leavesOut: [StaticString] = []

  private static let mostFields = 50
  private static let mostTextBytes = 256

  func append(_ properties: RawSpan, to item: inout [UInt8]) throws(CodecError) {
    var number: [UInt8] = []
    var fields: [UInt8] = [UInt8(ascii: "{")]
    var keys: [[UInt8]] = []
    try plan.forEach(in: properties) { key, value throws(CodecError) in
      if hasValue, key.isEqual(to: "value"), value.isNumber {
        number = []
        return try CanonicalJSON.append(value: value, to: &number)
      }
      guard keys.count < Self.mostFields, !key.isEqual(to: "sessionId"),
        !key.isEqual(to: "session_id"), !leavesOut.contains(where: { key.isEqual(to: $0) }),
        let text = try Self.json(value)
      else { return }
      let plain = Self.key(key)
      guard !plain.isEmpty, !keys.contains(plain) else { return }
      keys.append(plain)
      unsafe fields.key(plain.span.bytes)
      fields.append(contentsOf: text)
    }
    if !number.isEmpty {
      item.key("value")
      item.append(contentsOf: number)
    }
    if !keys.isEmpty {
      item.key("custom_fields")
      item.append(contentsOf: fields)
      item.append(UInt8(ascii: "}"))
    }
  }

  /// Numbers stay numbers, bools become texts, and texts are cut; nothing for all else.
  private static func json(_ value: RawSpan) throws(CodecError) -> [UInt8]? {
    var output: [UInt8] = []
    if value.isNumber {
      try CanonicalJSON.append(value: value, to: &output)
    } else if value.isText {
      var reader = MessagePackReader(value)
      do throws(MessagePackError) {
        let text = try reader.readStringSpan().copied().prefixOfText(mostTextBytes)
        unsafe CanonicalJSON.text(text.span.bytes, &output)
      } catch { throw CodecError(error) }
    } else if value.byteCount == 1, value.bigEndian(at: 0, as: UInt8.self) & 0xFE == 0xC2 {
      let isTrue = value.bigEndian(at: 0, as: UInt8.self) == 0xC3
      output.append(contentsOf: (isTrue ? "\"true\"" : "\"false\"").utf8)
    } else {
      return nil
    }
    return output
  }

  /// `[a-zA-Z0-9_]{1,64}`
  private static func key(_ key: RawSpan) -> [UInt8] {
    key.copied().prefix(64).map { byte in
      switch byte {
      case 48...57, 65...90, 97...122: byte
      default: UInt8(ascii: "_")
      }
    }
  }
}
