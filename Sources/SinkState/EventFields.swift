public import EventCodec
internal import EventModel
public import Primitives

/// What a sink must know of an event before it decides about it, read in one pass over the top level.
///
/// Ranges are of the payload, and of the value's bytes for texts; empty where a field is absent, null or
/// (but for ids of persons) no text. About 60 ns for an event of 200 bytes; nothing is allocated.
public struct EventFields: Hashable, Sendable {
  /// The text of `messageId`.
  public var messageId: Range<Int> = 0..<0
  /// The values of `userId` and `anonymousId`, with their MessagePack heads: ids may be numbers.
  public var userId: Range<Int> = 0..<0
  public var anonymousId: Range<Int> = 0..<0
  /// The same of `previousId`: the other name of a person, in an alias.
  public var previousId: Range<Int> = 0..<0
  /// When it happened, nanoseconds since 1970; 0 where that is not said.
  public var timestamp: Int64 = 0
  /// CRC-32C of all fields but `receivedAt` and `sentAt`, which differ between two attempts to send the
  /// same event.
  public var content: UInt32 = 0

  /// The ids of the person that the event is about; empty ranges are none.
  public var people: [3 of Range<Int>] { [userId, anonymousId, previousId] }

  /// Those of no event.
  public static let none = EventFields()

  private init() {}

  /// - Throws: when `payload` is no event.
  public init(reading payload: RawSpan) throws(MessagePackError) {
    var reader = MessagePackReader(payload)
    let count = try reader.readMapHeader()
    var checked = reader.position
    for _ in 0..<count {
      let start = reader.position
      let key = try reader.readStringRange()
      let value = reader.position
      switch Field(payload, key) {
      case .messageId: messageId = try Self.text(&reader)
      case .userId: userId = try Self.value(&reader)
      case .anonymousId: anonymousId = try Self.value(&reader)
      case .previousId: previousId = try Self.value(&reader)
      case .timestamp: timestamp = try reader.readInt()
      case .volatile:
        content = CRC32C.checksum(payload.extracting(checked..<start), seed: content)
        try reader.skip()
        checked = reader.position
      case .other: try reader.skip()
      }
      assert(reader.position > value, "a value has a byte at least")
    }
    content = CRC32C.checksum(payload.extracting(checked..<reader.position), seed: content)
  }

  /// The same of a payload that was written as JSON just now, which noted its `places`; about 30 ns.
  public init(_ places: borrowing FieldPlaces, of payload: RawSpan) throws(MessagePackError) {
    guard places.isWhole else {
      self = try EventFields(reading: payload)
      return
    }
    var checked = places.start
    for index in 0..<places.count {
      let place = places[index]
      var reader = MessagePackReader(payload, at: place.value.lowerBound)
      switch place.field {
      case .messageId: messageId = try Self.text(&reader)
      case .userId: userId = try Self.value(&reader)
      case .anonymousId: anonymousId = try Self.value(&reader)
      case .previousId: previousId = try Self.value(&reader)
      case .timestamp: timestamp = try reader.readInt()
      case .receivedAt, .sentAt:
        content = CRC32C.checksum(
          payload.extracting(checked..<place.whole.lowerBound), seed: content)
        checked = place.whole.upperBound
      default: break
      }
    }
    content = CRC32C.checksum(payload.extracting(checked..<places.end), seed: content)
  }

  private enum Field {
    case messageId, userId, anonymousId, previousId, timestamp, volatile, other

    /// Most keys are told apart by their length alone.
    @inline(__always)
    init(_ payload: RawSpan, _ key: Range<Int>) {
      self = .other
      switch key.count {
      case 6:
        if Self.equal(payload, key, "userId") { self = .userId }
        if Self.equal(payload, key, "sentAt") { self = .volatile }
      case 9:
        if Self.equal(payload, key, "messageId") { self = .messageId }
        if Self.equal(payload, key, "timestamp") { self = .timestamp }
      case 10:
        if Self.equal(payload, key, "receivedAt") { self = .volatile }
        if Self.equal(payload, key, "previousId") { self = .previousId }
      case 11: if Self.equal(payload, key, "anonymousId") { self = .anonymousId }
      default: break
      }
    }

    @inline(__always)
    private static func equal(_ payload: RawSpan, _ key: Range<Int>, _ text: StaticString) -> Bool {
      let text = unsafe UnsafeRawBufferPointer(
        start: text.utf8Start, count: text.utf8CodeUnitCount)
      return unsafe payload.extracting(key).isEqual(to: text.bytes)
    }
  }

  /// The range of a text's bytes; empty for another value.
  private static func text(_ reader: inout MessagePackReader) throws(MessagePackError) -> Range<Int>
  {
    let type = try reader.peek()
    if type & 0xE0 == 0xA0 || (0xD9...0xDB).contains(type) { return try reader.readStringRange() }
    try reader.skip()
    return 0..<0
  }

  /// The range of a value; empty for null.
  private static func value(
    _ reader: inout MessagePackReader
  ) throws(MessagePackError) -> Range<Int> {
    let start = reader.position
    if try reader.readNilIfPresent() { return 0..<0 }
    try reader.skip()
    return start..<reader.position
  }
}
