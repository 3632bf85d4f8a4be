// A rules file, JSON:
//
//   {
//     "hashKey": "a long secret text",                  needed when a rule hashes
//     "rules": [
//       { "events": ["Signed Up", "Order *"],           patterns; absent: all events
//         "drop": ["properties.email", "context.ip"],   paths from the envelope's root; `\.` is a point
//         "hash": ["userId", "properties.items.*.sku"]  inside a key, `*` every member
//       }
//     ]
//   }
//
// A hash is HMAC-SHA-256 under the key, 64 hexadecimal digits: equal values stay equal, and nobody
// without the key can try values out. Text is hashed as its UTF-8, anything else as its JSON; null stays.
internal import EventCodec
internal import EventModel
internal import Primitives

extension PropertyRules {
  /// Reads a file's bytes; every fault is told with its place.
  public init(json: [UInt8]) throws(RulesError) {
    self.init()
    let root = try Self.object(try Self.parse(json), "")
    try Self.checkKeys(root, ["hashKey", "rules"], "")
    if let key = root["hashKey"] {
      guard let text = key.stringValue, text.utf8.count >= 16 else {
        throw RulesError(place: "hashKey", reason: "a text of at least 16 bytes is needed")
      }
      hashKey = Array(text.utf8)
    }
    guard case .array(let list)? = root["rules"] else {
      throw RulesError(place: "rules", reason: "a list of rules is needed")
    }
    for (index, value) in list.enumerated() {
      rules.append(try Self.rule(value, "rules[\(index)]", hasKey: !hashKey.isEmpty))
    }
  }

  private static func parse(_ json: [UInt8]) throws(RulesError) -> PropertyValue {
    do {
      let packed = try unsafe JSONValuePacker.pack(json.span.bytes)
      var reader = unsafe MessagePackReader(packed.span.bytes)
      return try PropertyValue(from: &reader)
    } catch let error as CodecError {
      throw RulesError(place: "", reason: "\(error)")
    } catch {
      throw RulesError(place: "", reason: "\(error)")
    }
  }

  private static func rule(
    _ value: PropertyValue, _ place: String, hasKey: Bool
  ) throws(RulesError) -> Rule {
    let object = try object(value, place)
    try checkKeys(object, ["events", "drop", "hash"], place)
    let events = try texts(object["events"], "\(place).events")
    let drop = try texts(object["drop"], "\(place).drop")
    let hash = try texts(object["hash"], "\(place).hash")
    guard !drop.isEmpty || !hash.isEmpty else {
      throw RulesError(place: place, reason: "it neither drops nor hashes anything")
    }
    if !hash.isEmpty, !hasKey {
      throw RulesError(place: "\(place).hash", reason: "hashing needs a \"hashKey\" in the file")
    }
    var steps: [Step] = []
    for (index, text) in drop.enumerated() {
      steps.append(Step(path: try path(text, "\(place).drop[\(index)]"), action: .drop))
    }
    for (index, text) in hash.enumerated() {
      steps.append(Step(path: try path(text, "\(place).hash[\(index)]"), action: .hash))
    }
    return Rule(events: events.map { EventPattern($0) }, steps: steps)
  }

  private static func object(
    _ value: PropertyValue, _ place: String
  ) throws(RulesError) -> PropertyObject {
    guard let object = value.objectValue else {
      throw RulesError(place: place, reason: "an object is needed")
    }
    return object
  }

  private static func checkKeys(
    _ object: PropertyObject, _ known: [String], _ place: String
  ) throws(RulesError) {
    for member in object.members where !known.contains(member.key) {
      throw RulesError(
        place: place.isEmpty ? member.key : "\(place).\(member.key)",
        reason: "not known; there are \(known.joined(separator: ", "))")
    }
  }

  private static func texts(
    _ value: PropertyValue?, _ place: String
  ) throws(RulesError) -> [String] {
    guard let value else { return [] }
    guard case .array(let values) = value else {
      throw RulesError(place: place, reason: "a list of texts is needed")
    }
    var texts: [String] = []
    for (index, value) in values.enumerated() {
      guard let text = value.stringValue, !text.isEmpty else {
        throw RulesError(place: "\(place)[\(index)]", reason: "a text is needed")
      }
      texts.append(text)
    }
    return texts
  }

  /// What an event cannot be without.
  private static let needed = ["type", "event", "messageId", "timestamp", "receivedAt"]

  private static func path(_ text: String, _ place: String) throws(RulesError) -> [[UInt8]] {
    var keys: [[UInt8]] = [[]]
    var isEscaped = false
    for byte in text.utf8 {
      if isEscaped || (byte != UInt8(ascii: ".") && byte != UInt8(ascii: "\\")) {
        keys[keys.count - 1].append(byte)
        isEscaped = false
      } else if byte == UInt8(ascii: "\\") {
        isEscaped = true
      } else {
        keys.append([])
      }
    }
    guard !isEscaped, keys.allSatisfy({ !$0.isEmpty }) else {
      throw RulesError(place: place, reason: "\"\(text)\" is no path: write properties.email")
    }
    let first = String(decoding: keys[0], as: UTF8.self)
    guard !needed.contains(first), first != "*" else {
      throw RulesError(place: place, reason: "an event cannot be without its \(first)")
    }
    return keys
  }
}
