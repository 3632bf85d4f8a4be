import EventCodec
import Primitives
import ServiceRuntime

/// An event of a load test: published again and again, each time with an id of its own.
struct LoadEvent: Sendable {
  let name: [UInt8]
  /// The payload up to the place of the messageId, and from behind it.
  private let before: [UInt8]
  private let after: [UInt8]

  /// A made event of about `size` bytes.
  init(name: String, size: Int) {
    self.name = Array(name.utf8)
    var head = MessagePackWriter()
    head.writeMapHeader(6)
    head.write("type")
    head.write("track")
    head.write("event")
    head.write(name)
    head.write("messageId")
    before = head.bytes
    var tail = MessagePackWriter()
    tail.write("anonymousId")
    tail.write("load")
    tail.write("properties")
    tail.writeMapHeader(2)
    tail.write("source")
    tail.write("load test")
    tail.write("filler")
    // What the fields so far, the messageId's 38 bytes and the timestamp's 19 do not fill.
    let rest = size - head.bytes.count - 38 - 19 - tail.bytes.count - 2
    tail.write(String(repeating: "x", count: max(0, rest)))
    after = tail.bytes
  }

  /// An event from a file, which keeps its content but gets new ids.
  init(name: [UInt8], payload: [UInt8]) throws(CodecError) {
    self.name = name
    before = payload
    after = []
  }

  func write(id: UUIDv7, number: Int, into payload: inout [UInt8]) {
    payload.removeAll(keepingCapacity: true)
    payload.append(contentsOf: before)
    guard !after.isEmpty else { return }
    payload.append(0xD9)
    payload.append(UInt8(UUIDv7.textBytes))
    id.appendText(to: &payload)
    payload.append(0xA9)
    payload.append(contentsOf: "timestamp".utf8)
    payload.append(0xCF)
    payload.appendBigEndian(UInt64(bitPattern: SystemClock.realtime()))
    payload.append(contentsOf: after)
  }
}

enum LoadEvents {
  static func made(_ names: [String], size: Int) throws -> [LoadEvent] {
    names.map { LoadEvent(name: $0, size: size) }
  }

  /// The good events of a file; bad lines are named and left out.
  static func read(_ path: String, _ context: Commands.Context) throws -> [LoadEvent] {
    let input = try LineInput(path == "-" ? nil : path, interruption: context.interruption)
    var reader = JSONEventReader()
    var lines = LineReader(maximumBytes: reader.limits.eventBytes)
    var events: [LoadEvent] = []
    func take(_ line: LineReader.Numbered) -> Bool {
      guard case .text(let text) = line.line else {
        Terminal.error("line \(line.number): too long")
        return true
      }
      var payload: [UInt8] = []
      do throws(CodecError) {
        let topic = try unsafe reader.read(
          text.span.bytes, received: SystemClock.realtime(), into: &payload)
        events.append(try LoadEvent(name: topic, payload: payload))
      } catch {
        Terminal.error("line \(line.number): \(TerminalText.escape(error.description))")
      }
      return true
    }
    do {
      while let chunk = try input.read() { try lines.feed(chunk[...], take) }
      try lines.finish(take)
    } catch let error as LineReader.WrongEncoding {
      throw CommandFailure(.failed, "\(input.name): \(error)")
    } catch let error as LineInput.Damage {
      throw CommandFailure(.failed, "\(input.name): \(error), behind line \(lines.number)")
    }
    guard !events.isEmpty else { throw CommandFailure(.failed, "\(input.name) holds no event") }
    return events
  }
}
