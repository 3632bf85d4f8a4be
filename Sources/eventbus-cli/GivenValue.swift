import EventCodec
import ServiceRuntime

/// A value on the command line: JSON where it parses, else text.
enum GivenValue {
  static func json(_ text: String) -> [UInt8] {
    // Read as the value of a property, so the same rules hold as for events.
    let event = Array("{\"event\":\"e\",\"properties\":{\"v\":\(text)}}".utf8)
    var reader = JSONEventReader()
    var payload: [UInt8] = []
    do throws(CodecError) {
      _ = try unsafe reader.read(event.span.bytes, received: 0, into: &payload)
      return Array(text.utf8)
    } catch {
      return JSONText.text(text).utf8
    }
  }
}
