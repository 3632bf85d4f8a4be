internal import Primitives

/// A time as somebody gave it, in MessagePack: what it means, and its text where that says more.
///
/// Numbers count seconds, milliseconds, microseconds or nanoseconds by their size; texts are ISO 8601 as
/// people write it, or digits. Nothing is ever refused: an unreadable time is nil, and the event lives.
struct GivenTime {
  private static let maximumOriginalBytes = 200

  private(set) var time: Timestamp?
  /// The text as it was given, unless our own text of the time is the same.
  private(set) var original: [UInt8]?

  /// Corrects the time of a clock that is wrong; the text as it was given is kept then in any case. A
  /// time that leaves the plausible years is unreadable.
  mutating func shift(by nanoseconds: Int64) {
    guard let given = time else { return }
    if original == nil { original = Array(given.text.utf8) }
    let (sum, overflow) = given.nanoseconds.addingReportingOverflow(nanoseconds)
    let shifted = Timestamp(nanoseconds: sum)
    time = overflow || !shifted.isPlausible ? nil : shifted
  }

  init(_ value: RawSpan) {
    var reader = MessagePackReader(value)
    do throws(MessagePackError) {
      switch value.bigEndian(at: 0, as: UInt8.self) {
      case 0xA0...0xBF, 0xD9...0xDB:
        let text = try reader.readStringSpan()
        time = Timestamp(text: text)
        original = time?.isText(text) == true ? nil : text.copied()
      case 0x00...0x7F, 0xE0...0xFF, 0xCC...0xD3:
        let number = try reader.readInt()
        time = Timestamp(number: number)
        original = Array("\(number)".utf8)
      case 0xCB:
        let number = try reader.readDouble()
        time = Timestamp(number: number)
        original = Array("\(number)".utf8)
      case 0xC0:
        original = Array("null".utf8)
      case 0xC2, 0xC3:
        original = Array((try reader.readBool() ? "true" : "false").utf8)
      default:
        original = Self.json(value)
      }
    } catch {
      // A number beyond Int64: no time.
      original = Self.json(value)
    }
  }

  /// What is no time by its kind, as JSON; nil when it is too long to be worth keeping.
  private static func json(_ value: RawSpan) -> [UInt8]? {
    guard value.byteCount <= maximumOriginalBytes else { return nil }
    var text: [UInt8] = []
    do throws(CodecError) {
      try CanonicalJSON.append(value: value, to: &text)
      return text
    } catch {
      // Bytes that have no JSON, as MessagePack's binary has none: the flag alone tells of them.
      return nil
    }
  }
}
