public import EventModel
internal import Primitives

extension CanonicalJSON {
  /// Whether a text that is shown without its quotes would be taken for another value (`1`, `null`), or
  /// for nothing.
  public static func readsAsValue(_ text: String) -> Bool {
    guard !text.isEmpty else { return true }
    do throws(CodecError) {
      _ = try unsafe PropertyValue(json: Array(text.utf8).span.bytes)
      return true
    } catch { return false }
  }
}

extension PropertyValue {
  /// Reads one JSON value, blanks around it allowed. Short plain texts and small integers, which are
  /// most values, take about 20 ns and no memory; all others go through MessagePack.
  public init(json text: RawSpan) throws(CodecError) {
    if let simple = unsafe text.withUnsafeBytes({ unsafe Self.simple($0) }) {
      self = simple
      return
    }
    // Such a value may be a whole field: its own object counts here.
    let packed = try JSONValuePacker.pack(text, depth: EventLimits.maximumContainers)
    var reader = unsafe MessagePackReader(packed.span.bytes)
    do throws(MessagePackError) {
      self = try PropertyValue(from: &reader)
    } catch { throw CodecError(error) }
  }

  /// Texts of plain ASCII without escapes, integers of up to 18 digits, and the three words.
  private static func simple(_ bytes: UnsafeRawBufferPointer) -> PropertyValue? {
    guard bytes.count > 0 else { return nil }
    switch unsafe (bytes.count, bytes[0]) {
    case (2..., UInt8(ascii: "\"")): return unsafe plainText(bytes)
    case (1...18, UInt8(ascii: "1")...UInt8(ascii: "9")):
      var value: Int64 = 0
      for index in 0..<bytes.count {
        let digit = unsafe bytes[index] &- 48
        guard digit < 10 else { return nil }
        value = value * 10 + Int64(digit)
      }
      return .int(value)
    case (4, UInt8(ascii: "t")): return unsafe bytes.elementsEqual("true".utf8) ? .bool(true) : nil
    case (5, UInt8(ascii: "f")):
      return unsafe bytes.elementsEqual("false".utf8) ? .bool(false) : nil
    case (4, UInt8(ascii: "n")): return unsafe bytes.elementsEqual("null".utf8) ? .null : nil
    default: return nil
    }
  }

  private static func plainText(_ bytes: UnsafeRawBufferPointer) -> PropertyValue? {
    let last = bytes.count - 1
    guard unsafe bytes[last] == UInt8(ascii: "\"") else { return nil }
    for index in 1..<last {
      let byte = unsafe bytes[index]
      guard byte >= 0x20, byte < 0x80, byte != 0x22, byte != 0x5C else { return nil }
    }
    let inside = unsafe UnsafeRawBufferPointer(rebasing: bytes[1..<last])
    return unsafe .string(String(decoding: inside, as: UTF8.self))
  }
}
