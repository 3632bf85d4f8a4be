internal import EventModel
internal import Primitives

// Another category than design. An event asks for it in its `integrations`:
//
//   "integrations":{"GameAnalytics":{"category":"resource","event_id":"Source:gold:chest:daily"}}
//
// The fields below stand beside `category` there, else in the event's properties:
//
//   business     event_id "itemType:itemId", amount (whole cents), currency "USD", transaction_num from 1 on
//                (else 1), cart_type of at most 32 bytes where it is given
//   resource     event_id "Source:" or "Sink:" and "currency:itemType:itemId", amount over 0
//   progression  event_id "Start:", "Fail:" or "Complete:" and 1 to 3 parts; attempt_num and score, whole,
//                where they are given
//   error        severity (debug, info, warning, error or critical), message, 8,192 bytes of it
//   session_end  length in whole seconds, from 0 on
//   user         nothing more
//   design       event_id, in place of the event's name
//
// What a category does not allow is refused with the field's name. Ads and impressions are not sent.

/// The category of one event and the fields that only this one has.
struct GameAnalyticsCategory {
  let name: String
  private let options: PropertyObject
  private let properties: PropertyObject?

  /// Nil: the event does not ask for one.
  init?(_ event: borrowing EnvelopeView) throws(MessagePackError) {
    guard event.has(.integrations),
      let options = try event.object(.integrations)?["GameAnalytics"]?.objectValue,
      let name = options["category"]?.stringValue
    else { return nil }
    self.name = name
    self.options = options
    properties = try event.object(.properties)
  }

  /// Properties that these fields were taken from, and which are no custom fields then.
  var used: [StaticString] {
    switch name {
    case "business": ["event_id", "amount", "currency", "transaction_num", "cart_type"]
    case "resource": ["event_id", "amount"]
    case "progression": ["event_id", "attempt_num", "score"]
    case "error": ["severity", "message"]
    case "session_end": ["length"]
    case "design": ["event_id"]
    default: []
    }
  }

  /// Appends the fields; the reason when one is not as it must be.
  func append(to item: inout [UInt8]) -> String? {
    switch name {
    case "business": business(&item)
    case "resource": resource(&item)
    case "progression": progression(&item)
    case "error": error(&item)
    case "session_end": sessionEnd(&item)
    case "design": design(&item)
    case "user": nil
    default:
      "GameAnalytics' category is one of business, resource, progression, error, "
        + "session_end, user and design here"
    }
  }

  private func value(_ key: String) -> PropertyValue? { options[key] ?? properties?[key] }
  private func text(_ key: String) -> String { value(key)?.stringValue ?? "" }

  private func business(_ item: inout [UInt8]) -> String? {
    let id = Array(text("event_id").utf8)
    guard GameAnalyticsRules.isEventID(id), id.count(where: { $0 == UInt8(ascii: ":") }) == 1 else {
      return fault("event_id", "itemType:itemId")
    }
    guard let amount = value("amount")?.intValue else { return fault("amount", "whole cents") }
    let currency = text("currency")
    guard currency.utf8.count == 3, currency.utf8.allSatisfy({ (65...90).contains($0) }) else {
      return fault("currency", "three capital letters, as USD")
    }
    let number = value("transaction_num")?.intValue ?? 1
    guard number >= 1 else { return fault("transaction_num", "a whole number from 1 on") }
    item.member("event_id", text: id)
    item.member("amount", number: amount)
    item.member("currency", text: currency)
    item.member("transaction_num", number: number)
    guard value("cart_type") != nil else { return nil }
    guard (1...32).contains(text("cart_type").utf8.count) else {
      return fault("cart_type", "a text of 1 to 32 bytes")
    }
    item.member("cart_type", text: text("cart_type"))
    return nil
  }

  private func resource(_ item: inout [UInt8]) -> String? {
    let id = text("event_id")
    let parts = id.split(separator: ":", omittingEmptySubsequences: false)
    guard GameAnalyticsRules.isEventID(Array(id.utf8)), parts.count == 4,
      ["Sink", "Source"].contains(parts[0]),
      parts[1].utf8.allSatisfy({ (97...122).contains($0 | 0x20) })
    else { return fault("event_id", "Source or Sink:currency:itemType:itemId") }
    switch value("amount") {
    case .int(let amount) where amount > 0:
      item.member("event_id", text: id)
      item.member("amount", number: amount)
    case .double(let amount) where amount > 0:
      item.member("event_id", text: id)
      item.key("amount")
      item.append(contentsOf: "\(amount)".utf8)
    default: return fault("amount", "a number over 0")
    }
    return nil
  }

  private func progression(_ item: inout [UInt8]) -> String? {
    let id = text("event_id")
    let parts = id.split(separator: ":", omittingEmptySubsequences: false)
    guard GameAnalyticsRules.isEventID(Array(id.utf8)), (2...4).contains(parts.count),
      ["Start", "Fail", "Complete"].contains(parts[0])
    else { return fault("event_id", "Start, Fail or Complete and 1 to 3 parts, with : between") }
    item.member("event_id", text: id)
    for (key, name) in [("attempt_num", "attempt_num" as StaticString), ("score", "score")] {
      guard let given = value(key) else { continue }
      guard let number = given.intValue else { return fault(key, "a whole number") }
      item.member(name, number: number)
    }
    return nil
  }

  private func error(_ item: inout [UInt8]) -> String? {
    let severity = text("severity")
    guard ["debug", "info", "warning", "error", "critical"].contains(severity) else {
      return fault("severity", "debug, info, warning, error or critical")
    }
    item.member("severity", text: severity)
    item.member("message", text: Array(text("message").utf8).prefixOfText(8192))
    return nil
  }

  private func sessionEnd(_ item: inout [UInt8]) -> String? {
    guard let length = value("length")?.intValue, length >= 0 else {
      return fault("length", "whole seconds from 0 on")
    }
    item.member("length", number: length)
    return nil
  }

  private func design(_ item: inout [UInt8]) -> String? {
    let id = Array(text("event_id").utf8)
    guard GameAnalyticsRules.isEventID(id) else {
      return fault("event_id", "1 to 5 parts of 1 to 64 letters, digits, blanks and -_.()!?")
    }
    item.member("event_id", text: id)
    return nil
  }

  private func fault(_ field: String, _ wanted: String) -> String {
    "GameAnalytics' \(name) event needs \(field): \(wanted)"
  }
}
