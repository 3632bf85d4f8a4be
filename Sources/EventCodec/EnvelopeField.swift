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
internal import EventModel

extension EnvelopeField {
  static let texts: [[UInt8]] = allCases.map { Array("\($0)".utf8) }
  /// Each key as it stands in a payload: its head and its characters.
  static let keys: [[UInt8]] = texts.map { [0xA0 | UInt8($0.count)] + $0 }

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
    guard let candidate, unsafe bytes.elementsEqual(texts[candidate.rawValue]) else { return nil }
    return candidate
  }
}

/// Where the fields of one event stand in a buffer of MessagePack.
struct EnvelopeFields {
  /// By `EnvelopeField.rawValue`; empty ranges are absent fields.
  var known = [Range<Int>](repeating: 0..<0, count: EnvelopeField.allCases.count)
  var others: [(key: Range<Int>, value: Range<Int>)] = []
  /// Where each known field's value stands in what was given, for errors.
  var places = [Int](repeating: 0, count: EnvelopeField.allCases.count)

  subscript(field: EnvelopeField) -> Range<Int> {
    get { known[field.rawValue] }
    set { known[field.rawValue] = newValue }
  }

  func has(_ field: EnvelopeField) -> Bool { !known[field.rawValue].isEmpty }

  mutating func removeAll() {
    for index in known.indices {
      known[index] = 0..<0
      places[index] = 0
    }
    others.removeAll(keepingCapacity: true)
  }
}
