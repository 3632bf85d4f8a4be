internal import EventModel
internal import Primitives

/// What an event's `integrations` say about one destination: `{"All": false, "Mixpanel": true}`.
///
/// Names are compared byte for byte, as Segment does. `false` for one of the destination's names keeps
/// the event away, any other value lets it go there; without one `"All": false` keeps it away. Segment
/// itself is not among "all", as in Segment's own libraries: `{"All": false}` is passed on, for Segment
/// to heed.
struct IntegrationChoice: Sendable {
  var names: [StaticString]
  var heedsAll = true

  func wants(_ event: borrowing EnvelopeView) throws(MessagePackError) -> Bool {
    guard event.has(.integrations) else { return true }
    let value = event.value(.integrations)
    var reader = MessagePackReader(value)
    let type = try reader.peek()
    guard type & 0xF0 == 0x80 || type == 0xDE || type == 0xDF else { return true }
    var all = true
    var own: Bool?
    for _ in 0..<(try reader.readMapHeader()) {
      let key = try reader.readStringSpan()
      let isOn = try reader.peek() != 0xC2
      try reader.skip()
      if key.isEqual(to: "All") {
        all = isOn
      } else if names.contains(where: { key.isEqual(to: $0) }) {
        own = isOn
      }
    }
    return own ?? (all || !heedsAll)
  }
}

extension RawSpan {
  func isEqual(to text: StaticString) -> Bool {
    guard byteCount == text.utf8CodeUnitCount else { return false }
    return unsafe withUnsafeBytes { bytes in
      unsafe bytes.elementsEqual(
        UnsafeRawBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }
  }
}
