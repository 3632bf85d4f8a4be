internal import EventCodec
internal import EventModel
internal import Hashing
internal import Primitives

/// Reads of one line after another whom its event is about, when it happened, and its name, without
/// making the event of it. The same people as `EventFields` and `PersonHash` know of the event.
///
/// About 0.3 µs a line. One owner.
struct LinePeople {
  private static let ids = 0..<3

  private var scanner = LineScanner(
    LinePaths(["userId", "anonymousId", "previousId", "timestamp", "type", "event"]))
  private let key: KeyedHash
  /// Of the last line, each person once for each field.
  private(set) var people: [Hash128] = []
  private(set) var timestamp: Int64 = 0

  init(key: KeyedHash) { self.key = key }

  /// False when the line is no event.
  mutating func read(_ line: RawSpan) -> Bool {
    people.removeAll(keepingCapacity: true)
    guard unsafe line.withUnsafeBytes({ unsafe scanner.scan($0) }) else { return false }
    for field in Self.ids {
      if let person = person(line.extracting(scanner.found[field])) { people.append(person) }
    }
    let time = line.extracting(scanner.found[3])
    // A payload without a time has 0, as everywhere.
    timestamp = unsafe time.withUnsafeBytes { unsafe LineTime.nanoseconds($0) } ?? 0
    return true
  }

  /// The name of the last line's event.
  func topic(_ line: RawSpan) -> [UInt8] {
    var json: [UInt8] = []
    NameMatcher.appendTopic(
      type: line.extracting(scanner.found[4]), event: line.extracting(scanner.found[5]), to: &json)
    return unsafe Self.text(json.span.bytes) ?? []
  }

  private func person(_ value: RawSpan) -> Hash128? {
    guard value.byteCount > 0 else { return nil }
    switch value.bigEndian(at: 0, as: UInt8.self) {
    case UInt8(ascii: "\""):
      guard value.byteCount > 2 else { return nil }
      let inside = value.extracting(1..<value.byteCount - 1)
      guard Self.hasEscape(inside) else { return key.hash(inside) }
      return Self.text(value).flatMap { unsafe $0.isEmpty ? nil : key.hash($0.span.bytes) }
    case UInt8(ascii: "n"): return nil
    // What is no text is known by its JSON, which the line has.
    default: return key.hash(value)
    }
  }

  private static func hasEscape(_ text: RawSpan) -> Bool {
    for index in 0..<text.byteCount
    where text.bigEndian(at: index, as: UInt8.self) == UInt8(ascii: "\\") { return true }
    return false
  }

  /// The bytes of a JSON text.
  private static func text(_ json: RawSpan) -> [UInt8]? {
    do throws(CodecError) {
      guard case .string(let text) = try PropertyValue(json: json) else { return nil }
      return Array(text.utf8)
    } catch {
      return nil
    }
  }
}
