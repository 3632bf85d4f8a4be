internal import EventCodec
public import Hashing
public import Primitives

/// Stands for the id of a person: the keyed hash of its text.
///
/// Whether an id came as `userId` or as `anonymousId` makes no difference, and the number 42 is the same
/// person as the text "42": who asks to be forgotten gives one text.
public enum PersonHash {
  /// - Parameter value: an id as it stands in the payload, MessagePack, as `EventFields` has it.
  /// - Returns: nil for what names nobody: null, and an empty text.
  public static func hash(
    _ value: Range<Int>, in payload: RawSpan, by key: KeyedHash
  ) throws(MessagePackError) -> Hash128? {
    guard !value.isEmpty else { return nil }
    var reader = MessagePackReader(payload, at: value.lowerBound)
    let type = try reader.peek()
    if type & 0xE0 == 0xA0 || (0xD9...0xDB).contains(type) {
      let text = try reader.readStringSpan()
      return text.isEmpty ? nil : key.hash(text)
    }
    var text: [UInt8] = []
    do throws(CodecError) {
      try CanonicalJSON.append(value: payload.extracting(value), to: &text)
    } catch {
      throw MessagePackError(.wrongType, at: value.lowerBound)
    }
    return unsafe key.hash(text.span.bytes)
  }

  /// - Parameter text: the id as a person types it.
  public static func hash(_ text: String, by key: KeyedHash) -> Hash128? {
    guard !text.isEmpty else { return nil }
    return unsafe key.hash(Array(text.utf8).span.bytes)
  }
}
