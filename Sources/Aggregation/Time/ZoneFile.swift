// A file of /usr/share/zoneinfo, TZif (RFC 9636), big endian:
//
//   0  magic    "TZif"          4  version u8 (0, '2' to '4')    5  15 bytes unused
//  20  counts   u32 each: isut, isstd, leap, time, type, character
//  44  body     transition times (i32, or i64 from version 2 on), their types u8, types of 6 bytes
//               (offset i32, daylight u8, name index u8), names, leap seconds (time and i32), isstd, isut
//
// From version 2 on a second header and body with 64-bit times follow, and a footer "\n" POSIX-TZ "\n"
// that says what holds after the last transition. The first body is then stepped over.
internal import Primitives

/// What a file of the zone database says.
struct ZoneFile: Sendable, Equatable {
  struct Transition: Sendable, Equatable {
    /// Seconds since 1970 at which `offset` begins.
    var time: Int64
    /// Seconds east of UTC.
    var offset: Int
  }

  /// What holds before the first transition.
  private(set) var firstOffset = 0
  private(set) var transitions: [Transition] = []
  /// The footer without its line ends.
  private(set) var rule = ""

  /// Nil for bytes that are no such file.
  init?(_ bytes: [UInt8]) {
    var reader = Reader(bytes: bytes)
    guard let first = reader.header() else { return nil }
    if first.version == 0 {
      guard read(&reader, first, timeBytes: 4) else { return nil }
      return
    }
    guard reader.skip(first.bodyBytes(timeBytes: 4)), let second = reader.header(),
      read(&reader, second, timeBytes: 8)
    else { return nil }
    let footer = bytes[reader.at...]
    guard footer.first == 10, let end = footer.dropFirst().firstIndex(of: 10) else { return nil }
    rule = String(decoding: footer[(reader.at + 1)..<end], as: UTF8.self)
  }

  private mutating func read(_ reader: inout Reader, _ header: Header, timeBytes: Int) -> Bool {
    let start = reader.at
    guard reader.skip(header.bodyBytes(timeBytes: timeBytes)), header.types > 0 else {
      return false
    }
    let typesAt = start + header.times * (timeBytes + 1)
    func offset(_ type: Int) -> Int? {
      guard type < header.types else { return nil }
      return Int(reader.integer(at: typesAt + type * 6, as: Int32.self))
    }
    guard let first = offset(0) else { return false }
    firstOffset = first
    for index in 0..<header.times {
      let time =
        timeBytes == 8
        ? reader.integer(at: start + index * 8, as: Int64.self)
        : Int64(reader.integer(at: start + index * 4, as: Int32.self))
      let type = Int(reader.bytes[start + header.times * timeBytes + index])
      guard let offset = offset(type), transitions.last.map({ $0.time < time }) ?? true else {
        return false
      }
      transitions.append(Transition(time: time, offset: offset))
    }
    return true
  }

  private struct Header {
    var version: UInt8
    var isut, isstd, leaps, times, types, characters: Int

    func bodyBytes(timeBytes: Int) -> Int {
      times * (timeBytes + 1) + types * 6 + characters + leaps * (timeBytes + 4) + isstd + isut
    }
  }

  private struct Reader {
    let bytes: [UInt8]
    var at = 0

    func integer<T: FixedWidthInteger & BitwiseCopyable>(at offset: Int, as type: T.Type) -> T {
      unsafe bytes.span.bytes.bigEndian(at: offset)
    }

    mutating func skip(_ count: Int) -> Bool {
      guard count <= bytes.count - at else { return false }
      at += count
      return true
    }

    mutating func header() -> Header? {
      let start = at
      guard skip(44), bytes[start..<start + 4].elementsEqual("TZif".utf8) else { return nil }
      let counts = (0..<6).map { Int(integer(at: start + 20 + $0 * 4, as: UInt32.self)) }
      guard counts.allSatisfy({ $0 < 1 << 20 }) else { return nil }
      return Header(
        version: bytes[start + 4], isut: counts[0], isstd: counts[1], leaps: counts[2],
        times: counts[3], types: counts[4], characters: counts[5])
    }
  }
}
