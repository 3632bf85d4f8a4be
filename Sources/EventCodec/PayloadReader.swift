public import EventModel
public import Primitives

/// Looks up fields of one payload without decoding the rest. It borrows the bytes and cannot be kept.
///
/// The payload should have passed the broker; of other bytes it throws and never traps.
public struct PayloadReader: ~Escapable {
  public let payload: RawSpan

  @_lifetime(copy payload)
  public init(_ payload: RawSpan) { self.payload = payload }

  /// Where the value of a field of the envelope is; nil when it is absent. About 5 ns a field passed.
  public func range(of field: StaticString) throws(MessagePackError) -> Range<Int>? {
    try unsafe find(
      UnsafeRawBufferPointer(start: field.utf8Start, count: field.utf8CodeUnitCount), in: 0)
  }

  /// Where the value at a path from the envelope's root is: `["properties", "plan"]`. A number is an
  /// index where it meets a list. Nil when there is nothing.
  public func range(at path: [[UInt8]]) throws(MessagePackError) -> Range<Int>? {
    var found = 0..<payload.byteCount
    for key in path {
      let next = try unsafe key.span.bytes.withUnsafeBytes { key throws(MessagePackError) in
        try unsafe find(key, in: found.lowerBound)
      }
      guard let next else { return nil }
      found = next
    }
    return found
  }

  /// The value at a path; nil when there is nothing.
  public func value(at path: [[UInt8]]) throws(MessagePackError) -> PropertyValue? {
    guard let range = try range(at: path) else { return nil }
    var reader = MessagePackReader(payload, at: range.lowerBound)
    return try PropertyValue(from: &reader)
  }

  /// A text field; nil when it is absent, null or no text.
  public func text(_ field: StaticString) throws(MessagePackError) -> String? {
    guard let range = try range(of: field) else { return nil }
    var reader = MessagePackReader(payload, at: range.lowerBound)
    let type = try reader.peek()
    guard type & 0xE0 == 0xA0 || (0xD9...0xDB).contains(type) else { return nil }
    return try reader.readString()
  }

  /// When the event happened. Every payload of the bus has it.
  public func timestamp() throws(MessagePackError) -> Timestamp? {
    guard let range = try range(of: "timestamp") else { return nil }
    var reader = MessagePackReader(payload, at: range.lowerBound)
    return Timestamp(nanoseconds: try reader.readInt())
  }

  /// The properties, for a typed event; none and null read as a map without members.
  @_lifetime(copy self)
  public func properties() throws(MessagePackError) -> PropertyReader {
    guard let range = try range(of: "properties"),
      unsafe payload.unsafeLoad(fromByteOffset: range.lowerBound, as: UInt8.self) != 0xC0
    else { return PropertyReader(payload.extracting(0..<0)) }
    return PropertyReader(payload.extracting(range))
  }

  /// The typed event. About 0.2 µs where it reads by hand.
  public func event<E: SubscribableEvent>(
    _ type: E.Type = E.self
  ) throws(EventDecodingError) -> E {
    let reader: PropertyReader
    do throws(MessagePackError) {
      reader = try properties()
    } catch { throw EventDecodingError(error) }
    return try E(properties: reader)
  }

  /// The member called `key` of the map at `start`, or that element of the list.
  private func find(
    _ key: UnsafeRawBufferPointer, in start: Int
  ) throws(MessagePackError) -> Range<Int>? {
    var reader = MessagePackReader(payload, at: start)
    let type = try reader.peek()
    if type & 0xF0 == 0x90 || type == 0xDC || type == 0xDD {
      guard let index = unsafe Int(String(decoding: key, as: UTF8.self)) else { return nil }
      guard (0..<(try reader.readArrayHeader())).contains(index) else { return nil }
      try reader.skip(values: index)
      let from = reader.position
      try reader.skip()
      return from..<reader.position
    }
    guard type & 0xF0 == 0x80 || type == 0xDE || type == 0xDF else { return nil }
    for _ in 0..<(try reader.readMapHeader()) {
      let name = try reader.readStringRange()
      let from = reader.position
      try reader.skip()
      let isIt = unsafe payload.extracting(name).withUnsafeBytes { name in
        unsafe name.count == key.count && name.elementsEqual(key)
      }
      if isIt { return from..<reader.position }
    }
    return nil
  }
}
