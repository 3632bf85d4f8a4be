internal import EventModel
internal import Primitives

/// Events of 200 bytes.
enum BenchmarkEvents {
  static func name(_ index: Int) -> String { "Benchmark Event \(index)" }

  static func typed(_ index: Int) -> EventType.GameEnded {
    EventType.GameEnded(
      opponentType: .human, winningPlayer: .first, moveCount: 7 + index % 35)
  }

  /// Encoded events of exactly 200 bytes, names in turn.
  static func payloads(names: Int) -> [(name: [UInt8], payload: [UInt8])] {
    (0..<names).map { index in
      let name = name(index)
      var payload = encode(name, filler: 0)
      payload = encode(name, filler: 200 - payload.count - (200 - payload.count > 31 ? 1 : 0))
      return (Array(name.utf8), payload)
    }
  }

  private static func encode(_ name: String, filler: Int) -> [UInt8] {
    var writer = MessagePackWriter()
    writer.writeMapHeader(6)
    writer.write("type")
    writer.write("track")
    writer.write("event")
    writer.write(name)
    writer.write("messageId")
    writer.write("0190163d-8694-739b-aea5-966c26f8ad90")
    writer.write("userId")
    writer.write("user-0042")
    writer.write("timestamp")
    writer.write(Int64(1_714_564_800_123_000_000))
    writer.write("properties")
    writer.writeMapHeader(4)
    writer.write("plan")
    writer.write("pro")
    writer.write("amount")
    writer.write(12.5)
    writer.write("count")
    writer.write(3)
    writer.write("page")
    writer.write(String(repeating: "x", count: max(0, filler)))
    return writer.bytes
  }
}
