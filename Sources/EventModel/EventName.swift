internal import Primitives

/// Which bytes may name an event.
///
/// 1 to 200 bytes of UTF-8 (topics of 246 and more do not work in libzmq 4.3.4), not only blanks, no
/// U+0000 (it ends a name on the live feed); other control characters are kept, and escaped wherever a
/// person sees them. Names are compared byte for byte. Names that begin with `$` are ordinary, but for
/// the reserved ones.
public enum EventName {
  public static let maximumBytes = 200

  /// The topics of events that are not tracks: `$` and the type.
  public static let typeTopics: [[UInt8]] = ["$identify", "$page", "$screen", "$group", "$alias"]
    .map { Array($0.utf8) }

  /// The name of the event that asks every sink to erase a person (`ForgetRequest`). Refused like every
  /// reserved name, except from a producer that asked the broker for it.
  public static let forget = Array("$forget".utf8)
  private static let headPrefix = Array("$HEAD/".utf8)

  /// Checks the name of a track.
  public static func validate(_ name: RawSpan) throws(EventNameError) {
    try validate(topic: name)
    if typeTopics.contains(where: { unsafe name.isEqual(to: $0.span.bytes) }) {
      throw .reserved(name.text)
    }
  }

  public static func validate(_ name: String) throws(EventNameError) {
    let bytes = Array(name.utf8)
    try unsafe validate(bytes.span.bytes)
  }

  /// Checks what an event may travel under: a track's name, or the topic of another type.
  public static func validate(topic: RawSpan) throws(EventNameError) {
    guard topic.byteCount > 0 else { throw .empty }
    guard topic.byteCount <= maximumBytes else { throw .tooLong(bytes: topic.byteCount) }
    var isBlank = true
    var isASCII = true
    for index in 0..<topic.byteCount {
      let byte: UInt8 = topic.bigEndian(at: index)
      guard byte != 0 else { throw .containsNUL(at: index) }
      isBlank = isBlank && (byte == 0x20 || 0x09...0x0D ~= byte)
      isASCII = isASCII && byte < 0x80
    }
    if isBlank { throw .blank }
    if !isASCII { try validateText(topic) }
    guard topic.bigEndian(at: 0, as: UInt8.self) == UInt8(ascii: "$") else { return }
    if isForget(topic) { throw .reserved(topic.text) }
    if topic.byteCount >= headPrefix.count,
      unsafe topic.extracting(0..<headPrefix.count).isEqual(to: headPrefix.span.bytes)
    {
      throw .reserved(topic.text)
    }
  }

  public static func isForget(_ name: RawSpan) -> Bool {
    unsafe name.isEqual(to: forget.span.bytes)
  }

  private static func validateText(_ name: RawSpan) throws(EventNameError) {
    guard let text = String(validating: name.copied(), as: UTF8.self) else { throw .notUTF8 }
    // Blanks of other scripts are blank too; a person could not see such a name.
    if text.unicodeScalars.allSatisfy({ $0.properties.isWhitespace }) { throw .blank }
  }
}

/// Why bytes cannot name an event.
public enum EventNameError: Error, Hashable, Sendable, CustomStringConvertible {
  case empty
  case blank
  case tooLong(bytes: Int)
  case containsNUL(at: Int)
  case notUTF8
  case reserved(String)

  public var description: String {
    switch self {
    case .empty: "it is empty"
    case .blank: "it holds only blanks"
    case .tooLong(let bytes): "it has \(bytes) bytes; at most \(EventName.maximumBytes) are allowed"
    case .containsNUL(let at): "it holds U+0000 at byte \(at)"
    case .notUTF8: "it is not UTF-8"
    case .reserved(let name): "\(name) is reserved"
    }
  }
}

extension RawSpan {
  var text: String { String(decoding: copied(), as: UTF8.self) }
}
