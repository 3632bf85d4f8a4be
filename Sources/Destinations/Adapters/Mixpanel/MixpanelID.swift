internal import EventModel
internal import Primitives

/// Mixpanel's rules for identifiers.
enum MixpanelID {
  /// Ids that Mixpanel treats as none, in any case.
  private static let ignored: [[UInt8]] = [
    "00000000-0000-0000-0000-000000000000", "anon", "anonymous", "nil", "none", "null", "n/a", "na",
    "undefined", "unknown", "<nil>", "0", "-1", "true", "false", "[]", "{}", "",
  ].map { Array($0.utf8) }

  static func isIgnored(_ id: [UInt8]) -> Bool {
    guard id.count <= 36 else { return false }
    let lower = id.map { UInt8(ascii: "A")...UInt8(ascii: "Z") ~= $0 ? $0 | 0x20 : $0 }
    return ignored.contains(lower)
  }

  /// 1 to 36 of A-Z, a-z, 0-9 and `-`, always the same for the same event.
  static func insertID(of event: borrowing EnvelopeView, _ source: EventSource) -> [UInt8] {
    let given = event.text(.messageId)
    if given.isEmpty { return DerivedID.ofEvent(event.payload, source) }
    let bytes = given.copied()
    let isAllowed = bytes.count <= 36 && bytes.allSatisfy(isAllowed) && !isIgnored(bytes)
    return isAllowed ? bytes : DerivedID.uuid(given)
  }

  private static func isAllowed(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"):
      true
    default: false
    }
  }
}
