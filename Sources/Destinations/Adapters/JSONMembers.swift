internal import EventCodec
internal import Primitives

// What adapters write objects with: a key puts the comma in front where one is needed.
extension [UInt8] {
  private mutating func comma() {
    if last != UInt8(ascii: "{") { append(UInt8(ascii: ",")) }
  }

  /// `,"key":`. The key needs no escape.
  mutating func key(_ key: StaticString) {
    comma()
    append(UInt8(ascii: "\""))
    unsafe append(
      contentsOf: UnsafeBufferPointer(start: key.utf8Start, count: key.utf8CodeUnitCount))
    append(UInt8(ascii: "\""))
    append(UInt8(ascii: ":"))
  }

  mutating func key(_ key: RawSpan) {
    comma()
    CanonicalJSON.text(key, &self)
    append(UInt8(ascii: ":"))
  }

  mutating func member(_ key: StaticString, text: RawSpan) {
    self.key(key)
    CanonicalJSON.text(text, &self)
  }

  mutating func member(_ key: StaticString, text: [UInt8]) {
    unsafe member(key, text: text.span.bytes)
  }

  mutating func member(_ key: StaticString, text: String) { member(key, text: Array(text.utf8)) }

  mutating func member(_ key: StaticString, number: Int64) {
    self.key(key)
    append(contentsOf: "\(number)".utf8)
  }

  mutating func member(_ key: StaticString, time: Timestamp) {
    self.key(key)
    append(UInt8(ascii: "\""))
    time.appendText(to: &self)
    append(UInt8(ascii: "\""))
  }
}
