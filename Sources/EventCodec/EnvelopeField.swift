// An encoded event ("payload"), what travels on the bus and stands in the journal: one MessagePack map.
//
//   key                value
//   type               str: track, identify, page, screen, group, alias        first, always
//   event              str: the event's name                                   second, in a track always
//   messageId          str, always
//   userId             str, or what was given (number, nil)
//   anonymousId        str, or what was given
//   timestamp          int: nanoseconds since 1970 UTC, always
//   originalTimestamp  str: the time as it was given, when its text says more than `timestamp` does
//   timestampFlag      str "unreadable" or "receiveTime": `timestamp` is the receive time, because what
//                      was given is no time (unreadable)
//   sentAt             as it was given
//   receivedAt         as it was given, or int nanoseconds
//   properties         map or nil
//   traits             map or nil
//   context            map or nil
//   integrations       map or nil
//   name, category, groupId, previousId    as they were given
//   anything else      as it was given, after these and in its order
//
// Integers are MessagePack integers, doubles float 64, so 1, 1.0 and true stay three things. There is no
// version in it: a reader keeps fields that it does not know, in their place, and none changes meaning.
public import EventModel

#if canImport(Glibc)
  internal import Glibc
#else
  internal import Darwin
#endif

extension EnvelopeField {
  /// The key in a payload and in JSON.
  public var text: StaticString {
    switch self {
    case .type: "type"
    case .event: "event"
    case .messageId: "messageId"
    case .userId: "userId"
    case .anonymousId: "anonymousId"
    case .timestamp: "timestamp"
    case .originalTimestamp: "originalTimestamp"
    case .timestampFlag: "timestampFlag"
    case .sentAt: "sentAt"
    case .receivedAt: "receivedAt"
    case .properties: "properties"
    case .traits: "traits"
    case .context: "context"
    case .integrations: "integrations"
    case .name: "name"
    case .category: "category"
    case .groupId: "groupId"
    case .previousId: "previousId"
    }
  }

  /// The field that is called so; nil for one that the envelope does not know.
  static func named(_ bytes: UnsafeRawBufferPointer) -> EnvelopeField? {
    // Length and first letter leave one candidate, or none, for each.
    let candidate: EnvelopeField? =
      switch (bytes.count, unsafe bytes.first) {
      case (4, UInt8(ascii: "t")): .type
      case (4, UInt8(ascii: "n")): EnvelopeField.name
      case (5, UInt8(ascii: "e")): .event
      case (6, UInt8(ascii: "u")): .userId
      case (6, UInt8(ascii: "s")): .sentAt
      case (6, UInt8(ascii: "t")): .traits
      case (7, UInt8(ascii: "c")): .context
      case (7, UInt8(ascii: "g")): .groupId
      case (8, UInt8(ascii: "c")): .category
      case (9, UInt8(ascii: "m")): .messageId
      case (9, UInt8(ascii: "t")): .timestamp
      case (10, UInt8(ascii: "r")): .receivedAt
      case (10, UInt8(ascii: "p")): unsafe bytes[2] == UInt8(ascii: "o") ? .properties : .previousId
      case (11, UInt8(ascii: "a")): .anonymousId
      case (12, UInt8(ascii: "i")): .integrations
      case (13, UInt8(ascii: "t")): .timestampFlag
      case (17, UInt8(ascii: "o")): .originalTimestamp
      default: nil
      }
    guard let candidate, let start = bytes.baseAddress else { return nil }
    // The same length, by the switch above.
    return unsafe memcmp(start, candidate.text.utf8Start, bytes.count) == 0 ? candidate : nil
  }
}

extension EnvelopeField {
  /// The field that is called so in a payload; nil for one that the envelope does not know.
  public static func named(_ key: RawSpan) -> EnvelopeField? {
    unsafe key.withUnsafeBytes { unsafe named($0) }
  }
}

/// Where the fields of one event stand in a buffer of MessagePack.
struct EnvelopeFields {
  private typealias Table<Element> = InlineArray<18, Element>

  /// By `EnvelopeField.rawValue`; empty ranges are absent fields.
  private var known = Table<Range<Int>>(repeating: 0..<0)
  /// Where each known field's value stands in what was given, for errors.
  private var places = Table<Int>(repeating: 0)
  /// Keys and values of the other fields, in turn and in their order.
  var otherKeys: [Range<Int>] = []
  var otherValues: [Range<Int>] = []

  subscript(field: EnvelopeField) -> Range<Int> {
    get { known[field.rawValue] }
    set { known[field.rawValue] = newValue }
  }

  func place(_ field: EnvelopeField) -> Int { places[field.rawValue] }

  mutating func set(_ field: EnvelopeField, _ range: Range<Int>, place: Int) {
    known[field.rawValue] = range
    places[field.rawValue] = place
  }

  func has(_ field: EnvelopeField) -> Bool { !known[field.rawValue].isEmpty }

  mutating func removeAll() {
    known = .init(repeating: 0..<0)
    places = .init(repeating: 0)
    otherKeys.removeAll(keepingCapacity: true)
    otherValues.removeAll(keepingCapacity: true)
  }
}
