internal import Primitives

/// What stands before each record of a segment file. Big endian, 80 bytes, then the body.
///
///      0  magic     u32   "EBR" and the record version, 1
///      4  checksum  u32   CRC-32C of everything after it: bytes 8 ..< 80 and the body
///      8  body      u32   bytes of the body, at most `maximumBodyBytes`
///     12  kind      u8    0 batch · 1 mark (nothing but its flags) · 2 lost (`repair` put it where
///                         damage was: its count of offsets is gone, its body is filler)
///     13  flags     u8    of a mark: 1 epoch begins · 2 journal opened · 4 closed cleanly;
///                         16 · 32 the session's durability is `os` · `none`
///     14  reserved  u16   0; readers ignore it
///     16  segment   u64   id of the segment file: another id is a stale record of a recycled block
///     24  offset    u64   of the first event
///     32  count     u32   events; 0 in a mark
///     36  epoch     u32
///     40  time      i64   nanoseconds since 1970; never less than the record's before
///     48  synced    u64   everything below was on the disk when this was appended
///     56  producer  16 B  opaque; zero when there is none
///     72  sequence  u64   opaque; the producer's own numbering
///
/// A reader of version 1 skips a kind it does not know, and its offsets with it. Another record version
/// never stands in a segment whose header says version 1.
public struct RecordHeader: Hashable, Sendable {
  public static let byteCount = 80
  /// The largest body. Larger lengths in a file are damage: so a bad length costs no memory.
  public static let maximumBodyBytes = 16 << 20

  static let magic: UInt32 = 0x4542_5201
  static let checksumPosition = 4
  static let checkedFrom = 8

  public enum Kind: UInt8, Sendable {
    case batch = 0
    case mark = 1
    case lost = 2
  }

  public struct Flags: OptionSet, Hashable, Sendable {
    public var rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }
    public static let epochBegins = Flags(rawValue: 1)
    public static let opened = Flags(rawValue: 2)
    public static let closed = Flags(rawValue: 4)
    static let durabilityOS = Flags(rawValue: 16)
    static let durabilityNone = Flags(rawValue: 32)
  }

  public var bodyLength: Int
  /// Nil when the file holds a kind that this program does not know.
  public var kind: Kind?
  public var flags: Flags = []
  public var segment: UInt64
  public var offset: UInt64
  public var count: Int
  public var epoch: UInt32
  public var time: Int64
  public var synced: UInt64
  public var producer: JournalProducer = .none
  public var sequence: UInt64 = 0

  var byteCountWithBody: Int { Self.byteCount + bodyLength }
  var nextOffset: UInt64 { offset + UInt64(count) }
}

extension RecordHeader {
  /// Appends the header; its checksum stays 0 until `seal` has seen the body.
  func append(to bytes: inout [UInt8]) {
    bytes.appendBigEndian(Self.magic)
    bytes.appendBigEndian(UInt32(0))
    bytes.appendBigEndian(UInt32(bodyLength))
    bytes.append((kind ?? .mark).rawValue)
    bytes.append(flags.rawValue)
    bytes.appendBigEndian(UInt16(0))
    bytes.appendBigEndian(segment)
    bytes.appendBigEndian(offset)
    bytes.appendBigEndian(UInt32(count))
    bytes.appendBigEndian(epoch)
    bytes.appendBigEndian(time)
    bytes.appendBigEndian(synced)
    bytes.appendBigEndian(producer.high)
    bytes.appendBigEndian(producer.low)
    bytes.appendBigEndian(sequence)
  }

  /// Writes length and checksum of the record that begins at `start` and ends with the array.
  static func seal(_ bytes: inout [UInt8], from start: Int) {
    let body = bytes.count - start - byteCount
    precondition(body >= 0 && body <= maximumBodyBytes, "a body of \(body) bytes")
    bytes.storeBigEndian(UInt32(body), at: start + 8)
    let checked = (start + checkedFrom)..<bytes.count
    let checksum = CRC32C.checksum(unsafe bytes.span.bytes.extracting(checked))
    bytes.storeBigEndian(checksum, at: start + checksumPosition)
  }

  /// A whole record as bytes of its own.
  func encoded(body: [UInt8] = []) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(Self.byteCount + body.count)
    append(to: &bytes)
    bytes.append(contentsOf: body)
    Self.seal(&bytes, from: 0)
    return bytes
  }

  /// The fields at `start`, unchecked but for what keeps them inside their types; nil when this is no
  /// record header. `bytes` must hold 80 bytes from `start`.
  init?(decoding bytes: RawSpan, at start: Int) {
    guard bytes.bigEndian(at: start, as: UInt32.self) == Self.magic else { return nil }
    bodyLength = Int(bytes.bigEndian(at: start + 8, as: UInt32.self))
    guard bodyLength <= Self.maximumBodyBytes else { return nil }
    kind = Kind(rawValue: bytes.bigEndian(at: start + 12, as: UInt8.self))
    flags = Flags(rawValue: bytes.bigEndian(at: start + 13, as: UInt8.self))
    segment = bytes.bigEndian(at: start + 16, as: UInt64.self)
    offset = bytes.bigEndian(at: start + 24, as: UInt64.self)
    count = Int(bytes.bigEndian(at: start + 32, as: UInt32.self))
    // Offsets use 63 bits, so that sums of two never overflow.
    guard offset >> 63 == 0 else { return nil }
    epoch = bytes.bigEndian(at: start + 36, as: UInt32.self)
    time = bytes.bigEndian(at: start + 40, as: Int64.self)
    synced = bytes.bigEndian(at: start + 48, as: UInt64.self)
    // What is synced was appended before; and `repair` accounts for all up to there. A last epoch would
    // leave none for the next crash.
    guard synced <= offset, epoch < .max else { return nil }
    producer = JournalProducer(
      high: bytes.bigEndian(at: start + 56, as: UInt64.self),
      low: bytes.bigEndian(at: start + 64, as: UInt64.self))
    sequence = bytes.bigEndian(at: start + 72, as: UInt64.self)
  }

  /// Whether the checksum at `start` fits what follows; the record must lie within `bytes`.
  func checks(in bytes: RawSpan, at start: Int) -> Bool {
    let checked = bytes.extracting((start + Self.checkedFrom)..<(start + byteCountWithBody))
    return CRC32C.checksum(checked) == bytes.bigEndian(at: start + Self.checksumPosition)
  }
}
