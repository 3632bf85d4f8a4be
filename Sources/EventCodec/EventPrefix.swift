internal import EventModel
internal import Primitives

/// What all events of one name begin with: `type`, `event`, and the head of `messageId`.
///
/// Events of one name come after each other, so the name is checked and written once.
struct EventPrefix {
  private(set) var name: [UInt8] = []
  private(set) var bytes: [UInt8] = []

  /// Makes the prefix of `type`, unless it is there already.
  /// - Throws: `EventEncodingError` for a name that cannot be used.
  mutating func prepare(_ type: EventType) throws(EventEncodingError) {
    var text = type.rawValue
    let isReady = text.withUTF8 { utf8 in
      unsafe !name.isEmpty && utf8.count == name.count && utf8.elementsEqual(name)
    }
    if isReady { return }
    let utf8 = Array(text.utf8)
    do throws(EventNameError) {
      try unsafe EventName.validate(utf8.span.bytes)
    } catch {
      throw EventEncodingError("its name cannot be used: \(error)")
    }
    var writer = MessagePackWriter()
    // The count of the fields is set when they are all there.
    writer.bytes.append(0x80)
    writer.write("type" as StaticString)
    writer.write("track" as StaticString)
    writer.write("event" as StaticString)
    writer.write(type.rawValue)
    writer.write("messageId" as StaticString)
    writer.writeStringHeader(UUIDv7.textBytes)
    bytes = writer.bytes
    name = utf8
  }
}
