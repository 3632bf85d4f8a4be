import BusClient
import BusProtocol
import EventCodec
import Primitives
import ServiceRuntime

/// Publishes lines of JSON one by one and keeps account of them: what `publish` and `archive import`
/// share. One bad line never stops the rest.
struct LinePublisher {
  var outcome = PublishOutcome()
  /// Said before "line N": nothing, or which file it is.
  var place = ""
  /// Said instead of a place where there are no lines: which option it is from.
  var option: String?
  /// The `messageId` of a line's event that has none; nil: a new one each time.
  var id: ((_ line: Int) -> UUIDv7)?
  /// Asked about each event before it is published; false leaves it out without a word.
  var isWanted: ((_ topic: [UInt8], _ payload: RawSpan) -> Bool)?
  /// At which they are published; nil: as they come.
  var rate: SteadyRate?
  private var reader = JSONEventReader()
  private var payload: [UInt8] = []
  private let refusedLines: FileWriter?
  private let stopsOnError: Bool

  init(refusedLines: FileWriter?, stopsOnError: Bool) {
    self.refusedLines = refusedLines
    self.stopsOnError = stopsOnError
  }

  /// Publishes a whole stream, until its end or a request to end. Without a producer it is only counted.
  /// Returns what ended it early, with the input's name.
  mutating func takeAll(
    _ input: LineInput, to producer: Producer?, _ interruption: Interruption,
    progress: (_ bytes: Int) -> Void = { _ in }
  ) throws -> String? {
    var lines = LineReader(maximumBytes: reader.limits.eventBytes)
    var isOpen = true
    do {
      // Unreachable: what is in a file is still counted, but nobody waits for a pipe.
      while isOpen, producer == nil || !interruption.isRequested, let chunk = try input.read() {
        try lines.feed(chunk[...]) { line in
          if let rate, producer != nil, !rate.wait(for: outcome.read, interruption) {
            isOpen = false
          } else {
            isOpen = take(line, producer)
          }
          return isOpen
        }
        progress(input.bytesRead)
        if producer == nil, input.isPipe { return nil }
      }
      // Stopped in the middle of the input: what was read of the next line is no line.
      guard isOpen, producer == nil || !interruption.isRequested else { return nil }
      try lines.finish { take($0, producer) }
      return nil
    } catch let error as LineReader.WrongEncoding {
      outcome.refusedHere += 1
      return "\(input.name): \(error)"
    } catch let error as LineInput.Damage {
      outcome.refusedHere += 1
      return "\(input.name): \(error), behind line \(lines.number)"
    }
  }

  /// One line; false ends the reading.
  mutating func take(_ line: LineReader.Numbered, _ producer: Producer?) -> Bool {
    outcome.read += 1
    switch line.line {
    case .tooLong(let bytes):
      return refuse(
        line.number, "\(bytes) bytes; an event has at most \(reader.limits.eventBytes)", nil)
    case .text(let text):
      payload.removeAll(keepingCapacity: true)
      do throws(CodecError) {
        let topic = try unsafe reader.read(
          text.span.bytes, received: SystemClock.realtime(), id: id?(line.number), into: &payload)
        return publish(topic, line.number, text, producer)
      } catch {
        return refuse(line.number, option == nil ? error.description : error.text, text)
      }
    }
  }

  private mutating func publish(
    _ topic: [UInt8], _ number: Int, _ text: [UInt8], _ producer: Producer?
  ) -> Bool {
    if let isWanted, unsafe !isWanted(topic, payload.span.bytes) { return true }
    guard let producer else {
      outcome.published += 1
      return true
    }
    do throws(BusClientError) {
      try producer.publish(payload: payload, name: topic, sequence: UInt64(number))
      outcome.published += 1
      return true
    } catch .invalidEvent(let code, let reason) {
      return refuse(number, "\(code.rawValue): \(reason)", text)
    } catch {
      // The producer has ended; what it holds is counted by its close.
      outcome.failure = error
      return false
    }
  }

  private mutating func refuse(_ number: Int, _ reason: String, _ text: [UInt8]?) -> Bool {
    outcome.refusedHere += 1
    Terminal.error("\(option ?? "\(place)line \(number)"): \(TerminalText.escape(reason))")
    if let text { refusedLines?.writeLine(text) }
    return !stopsOnError
  }
}
