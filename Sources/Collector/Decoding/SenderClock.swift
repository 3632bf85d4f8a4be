internal import EventCodec
internal import EventModel
internal import Primitives

/// Whether the clock of whoever sent a batch is wrong, and by how much.
///
/// A batch that was long on its way is no wrong clock: only when it seems to be sent more than a minute
/// after it arrived, or more than a day before, all its events are moved by the difference. It is one
/// for the whole batch, so what lies between two of its events stays.
enum SenderClock {
  static let mostAhead: Int64 = 60_000_000_000
  static let mostBehind: Int64 = 86_400_000_000_000

  /// Nanoseconds to add to the batch's times.
  static func offset(sentAt: Timestamp?, receivedAt: Int64) -> Int64 {
    guard let sentAt else { return 0 }
    let behind = receivedAt - sentAt.nanoseconds
    return behind < -mostAhead || behind > mostBehind ? behind : 0
  }

  /// The time that a piece of JSON gives; nil for what is no time, which harms nothing.
  static func time(_ json: RawSpan) -> Timestamp? {
    do {
      let packed = try JSONValuePacker.pack(json, depth: 0)
      var reader = unsafe MessagePackReader(packed.span.bytes)
      switch try PropertyValue(from: &reader) {
      case .string(let text):
        let utf8 = Array(text.utf8)
        return unsafe Timestamp(text: utf8.span.bytes)
      case .int(let number): return Timestamp(number: number)
      case .double(let number): return Timestamp(number: number)
      default: return nil
      }
    } catch {
      return nil
    }
  }
}
