import Destinations
import EventCodec
import EventModel
import Primitives
import ServiceRuntime

/// A corrected event in a dead letter's place. It is the same event, so what it leaves out of its identity
/// is the letter's: another messageId would be counted twice by a destination that had taken the first.
struct DeadLetterCorrection {
  private let messageID: String?
  private let time: Int64

  init(of letter: DeadLetter) {
    var (id, time): (String?, Int64) = (nil, letter.received.nanoseconds)
    do throws(MessagePackError) {
      let reader = unsafe PayloadReader(letter.payload.span.bytes)
      id = try reader.text("messageId")
      time = try reader.timestamp()?.nanoseconds ?? time
    } catch {
      // A letter that cannot be read has no identity to keep: the corrected event gets one of its own.
    }
    (messageID, self.time) = (id, time)
  }

  /// - Parameter text: the event as one JSON object.
  func payload(_ text: [UInt8]) throws(CodecError) -> [UInt8] {
    var text = text
    let event = try unsafe PropertyValue(json: text.span.bytes).objectValue
    if let messageID, let event, !event.isEmpty, event["messageId"] == nil,
      let start = text.firstIndex(of: UInt8(ascii: "{"))
    {
      let member = "\(JSONText.object([.init("messageId", .text(messageID))]))"
      text.replaceSubrange(start...start, with: member.utf8.dropLast() + [UInt8(ascii: ",")])
    }
    var reader = JSONEventReader()
    var payload: [UInt8] = []
    _ = try unsafe reader.read(text.span.bytes, received: time, into: &payload)
    return payload
  }
}
