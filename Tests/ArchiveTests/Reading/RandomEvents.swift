import EventCodec
import Primitives

/// Events of all kinds of values, by seed, as JSON, as payload and as a line of the archive.
struct RandomEvents {
  var random: SeededRandom

  init(seed: UInt64) { random = SeededRandom(seed: seed) }

  /// Few keys, so that paths meet them often; some need escapes, some look like indexes.
  static let keys = [
    "plan", "status", "a.b", "0", "1", "00", "quo\\\"te", "back\\\\slash", "tab\\t", "ü", "{", "}:",
    "properties", "",
  ]
  static let texts = [
    "", "pro", "a", "b\\\"c", "\\\\", "\\\\\\\"", "]}", "{[", "12345678", "1234567\\\"", "ünï",
    "\\u2028",
    "\\u0000x", "a longer text, with a comma: and more", "2024-05-01T12:00:00.123Z",
  ]
  static let numbers = [
    "0", "1", "1.0", "-1", "-0.0", "200", "404", "9007199254740993", "18446744073709551615",
    "-9223372036854775808", "1.5", "1e300", "2.5e-3", "12",
  ]

  mutating func pick<T>(_ values: [T]) -> T {
    values[Int.random(in: 0..<values.count, using: &random)]
  }

  mutating func value(depth: Int = 3) -> String {
    switch Int.random(in: 0..<(depth > 0 ? 9 : 6), using: &random) {
    case 0: return pick(["true", "false"])
    case 1: return "null"
    case 2, 3: return pick(Self.numbers)
    case 4, 5: return "\"\(pick(Self.texts))\""
    case 6:
      let count = Int.random(in: 0...4, using: &random)
      return "[\((0..<count).map { _ in value(depth: depth - 1) }.joined(separator: ","))]"
    default: return object(depth: depth - 1)
    }
  }

  mutating func object(depth: Int) -> String {
    let count = Int.random(in: 0...6, using: &random)
    let keys = Array(Self.keys.shuffled(using: &random).prefix(count))
    return "{\(keys.map { "\"\($0)\":\(value(depth: depth))" }.joined(separator: ","))}"
  }

  /// An event as a client sends it.
  mutating func json() -> String {
    var fields = ["\"event\":\"\(pick(["Game Started", "a\\\"b", "E", "x\\ty"]))\""]
    if Bool.random(using: &random) {
      fields.append("\"userId\":\(pick(["\"u1\"", "\"u2\"", "7"]))")
    }
    if Bool.random(using: &random) { fields.append("\"timestamp\":\"2024-05-01T12:00:00.123Z\"") }
    if Bool.random(using: &random) { fields.append("\"plan\":\(value())") }
    if Bool.random(using: &random) { fields.append("\"context\":\(object(depth: 2))") }
    fields.append("\"properties\":\(object(depth: 3))")
    return "{\(fields.joined(separator: ","))}"
  }

  static func payload(_ json: String) throws -> [UInt8] {
    var reader = JSONEventReader()
    var payload: [UInt8] = []
    _ = try unsafe reader.read(Array(json.utf8).span.bytes, received: 0, into: &payload)
    return payload
  }

  /// As the archive writes it, without the newline.
  static func line(_ payload: [UInt8], offset: UInt64 = 7, epoch: UInt32 = 2) throws -> [UInt8] {
    var line: [UInt8] = []
    try unsafe CanonicalJSON.append(
      payload.span.bytes,
      .init(offset: offset, epoch: epoch, receivedAt: 1_714_564_800_000_000_000),
      to: &line)
    return line
  }
}
