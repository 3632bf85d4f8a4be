internal import EventModel
internal import Primitives

#if canImport(Glibc)
  internal import Glibc
#else
  internal import Darwin
#endif

/// Events of 200 bytes, and of other sizes.
enum BenchmarkEvents {
  static func name(_ index: Int) -> String { "Benchmark Event \(index)" }

  static func typed(_ index: Int) -> EventType.GameEnded {
    EventType.GameEnded(
      opponentType: .human, winningPlayer: .first, moveCount: 7 + index % 35)
  }

  /// Encoded events of exactly `size` bytes (at least 100), names in turn.
  static func payloads(names: Int, size: Int = 200) -> [(name: [UInt8], payload: [UInt8])] {
    (0..<names).map { index in
      let name = name(index)
      var filler = size - encode(name, filler: 0, isWhole: size >= 200).count
      var payload = encode(name, filler: filler, isWhole: size >= 200)
      // A longer text has a longer header.
      while payload.count > size {
        filler -= payload.count - size
        payload = encode(name, filler: filler, isWhole: size >= 200)
      }
      return (Array(name.utf8), payload)
    }
  }

  /// One event under a name of its own.
  static func payload(named name: String) -> [UInt8] { encode(name, filler: 0, isWhole: true) }

  /// For programs that are compared with ours: each event as its size (4 bytes, little endian) and bytes.
  static func write(to path: String) throws {
    guard let file = unsafe fopen(path, "wb") else { throw SystemError.last("fopen", path) }
    defer { unsafe fclose(file) }
    for event in payloads(names: 16) {
      let size = UInt32(event.payload.count)
      let bytes = (0..<4).map { UInt8(truncatingIfNeeded: size >> (8 * $0)) } + event.payload
      guard unsafe fwrite(bytes, 1, bytes.count, file) == bytes.count else {
        throw SystemError.last("fwrite", path)
      }
    }
  }

  /// - Parameter isWhole: with all that an event usually has.
  private static func encode(_ name: String, filler: Int, isWhole: Bool) -> [UInt8] {
    var writer = MessagePackWriter()
    writer.writeMapHeader(isWhole ? 6 : 4)
    writer.write("type")
    writer.write("track")
    writer.write("event")
    writer.write(name)
    writer.write("messageId")
    writer.write(isWhole ? "0190163d-8694-739b-aea5-966c26f8ad90" : "0190163d8694")
    if isWhole {
      writer.write("userId")
      writer.write("user-0042")
      writer.write("timestamp")
      writer.write(Int64(1_714_564_800_123_000_000))
    }
    writer.write("properties")
    writer.writeMapHeader(isWhole ? 4 : 1)
    if isWhole {
      writer.write("plan")
      writer.write("pro")
      writer.write("amount")
      writer.write(12.5)
      writer.write("count")
      writer.write(3)
    }
    writer.write("page")
    writer.write(String(repeating: "x", count: max(0, filler)))
    return writer.bytes
  }
}
