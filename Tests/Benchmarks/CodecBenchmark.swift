internal import EventCodec
internal import EventModel
internal import Primitives

/// Events of about 200 bytes with four properties, in and out of their encodings.
enum CodecBenchmark {
  private static let identity = EventIdentity(userId: "user-0042", anonymousId: "device-000017")
  private static let time = Timestamp(nanoseconds: 1_714_564_800_123_000_000)
  private static let typed = EventType.GameEnded(
    opponentType: .human, winningPlayer: .first, moveCount: 23)
  private static let plain = PlainEnded(
    opponentType: "human", winningPlayer: "first", category: "21 - 30", value: 23)

  /// An event of 200 bytes with four properties, as a file has it.
  private static let line =
    #"{"type":"track","event":"Game Ended","messageId":"m-000000000042","userId":"user-0042","#
    + #""timestamp":"2024-05-01T12:00:00.123Z","properties":{"plan":"pro","value":23,"rate":1.5,"#
    + #""page":"xxxxxxxxxxxxxx"}}"#

  static func run() throws {
    let lineBytes = Array(line.utf8)
    var encoder = EventEncoder()
    let range = try encoder.append(typed, identity: identity, time: time)
    let payload = encoder.bytes
    report("payload: \(range.count) bytes")
    try rate("typed event to payload", target: 3_000_000) {
      if encoder.bytes.count > 1 << 20 { encoder.removeAll() }
      _ = try encoder.append(typed, identity: identity, time: time)
    }
    try rate("plain Codable to payload", target: 800_000) {
      if encoder.bytes.count > 1 << 20 { encoder.removeAll() }
      _ = try encoder.append(plain, identity: identity, time: time)
    }
    // Used at the end, so that the optimiser cannot leave the work out.
    var sink = 0
    try rate("payload to typed event", target: 2_000_000) {
      let event: EventType.GameEnded = try unsafe PayloadReader(payload.span.bytes).event()
      sink &+= event.moveCount
    }
    guard sink > 0 else { return report("no moves were read") }
    let name = Array("Game Ended".utf8)
    try rate("walk of a payload", target: 10_000_000) {
      try unsafe PayloadWalker.check(payload.span.bytes, name: name.span.bytes)
    }
    var json: [UInt8] = []
    try unsafe CanonicalJSON.append(payload.span.bytes, to: &json)
    var reader = JSONEventReader()
    var output: [UInt8] = []
    try rate("JSON line to payload (\(json.count) bytes)", target: 1_000_000) {
      output.removeAll(keepingCapacity: true)
      _ = try unsafe reader.read(json.span.bytes, received: 0, into: &output)
    }
    try rate("JSON line to payload (\(line.utf8.count) bytes)", target: 1_000_000) {
      output.removeAll(keepingCapacity: true)
      _ = try unsafe reader.read(lineBytes.span.bytes, received: 0, into: &output)
    }
    var text: [UInt8] = []
    try rate("payload to canonical JSON", target: 1_000_000) {
      text.removeAll(keepingCapacity: true)
      try unsafe CanonicalJSON.append(payload.span.bytes, to: &text)
    }
  }

  private static func rate(_ what: String, target: Int, _ body: () throws -> Void) throws {
    let rounds = 300_000
    var best = Int64.max
    for _ in 0..<3 {
      let start = SystemClock.monotonic()
      for _ in 0..<rounds { try body() }
      best = min(best, SystemClock.monotonic() - start)
    }
    let rate = Int(Double(rounds) / Double(best) * 1e9)
    report("\(what): \(rate) a second, \(best / Int64(rounds)) ns (target \(target))")
  }
}

private struct PlainEnded: PublishableEvent, Codable {
  static let eventType: EventType = "Game Ended"
  var opponentType: String
  var winningPlayer: String
  var category: String
  var value: Int
}
