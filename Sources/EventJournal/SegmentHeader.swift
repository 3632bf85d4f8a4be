internal import Primitives

/// The head of a segment file. Big endian; epochs and the snapshot follow it, then the records.
///
///      0  magic      6 B   "EBSEGM"
///      6  version    u16   1
///      8  checksum   u32   CRC-32C of bytes 6 ..< 8 and then 12 ..< length
///     12  length     u32   bytes before the snapshot: 64 and 12 for each epoch (at most 4,096 epochs)
///     16  snapshot   u64   bytes of the snapshot
///     24  segment    u64   id of this file, random: its records carry it
///     32  offset     u64   of its first event; also its name
///     40  time       i64   journal time at its creation: no record in it is older, none before newer
///     48  snapshot   u32   CRC-32C of the snapshot
///     52  durability u8    of the session that created it: 0 fsync · 1 os · 2 none
///     53  flags      u8    1: the snapshot is void, an older one and the records since replace it
///     54  reserved   10 B  0; readers ignore it
///     64  epochs           (epoch u32, first offset u64) each, oldest first
///         snapshot         opaque: the broker's tables as they were at `offset`
///
/// A file is complete before it gets its name, so a head that does not check is damage, not a crash.
/// Every version keeps bytes 0 ..< 16 and the rule of the checksum: so a program tells a newer file
/// (it says so, and touches nothing) from a flipped bit in the version (damage).
struct SegmentHeader: Hashable, Sendable {
  static let fixedBytes = 64
  static let version: UInt16 = 1
  static let maximumEpochs = 4096
  static let epochBytes = 12
  /// The longest head of any version.
  static let maximumBytes = 1 << 20

  var segment: UInt64
  var offset: UInt64
  var time: Int64
  var epochs: [JournalEpoch]
  var durability: JournalDurability
  var snapshotLength = 0
  var snapshotChecksum: UInt32 = 0
  var snapshotIsVoid = false

  var snapshotPosition: Int { Self.fixedBytes + epochs.count * Self.epochBytes }
  /// Where the records begin.
  var recordsPosition: Int { snapshotPosition + snapshotLength }
  var epoch: UInt32 { epochs.last?.number ?? 0 }
  var name: String { Self.name(offset: offset) }

  /// 20 digits, so that names sort as offsets do.
  static func name(offset: UInt64) -> String {
    let digits = String(offset)
    return String(repeating: "0", count: 20 - digits.utf8.count) + digits + suffix
  }

  static let suffix = ".segment"
  /// Behind the name while the file is made.
  static let unfinishedSuffix = ".new"

  /// The offset that a file name says, nil when it names no segment.
  static func offset(inName name: String) -> UInt64? {
    guard name.utf8.count == 20 + suffix.utf8.count, name.hasSuffix(suffix) else { return nil }
    return UInt64(name.prefix(20))
  }
}

extension SegmentHeader {
  private static let magic: [UInt8] = Array("EBSEGM".utf8)

  /// The head of the file without the snapshot.
  func encoded() -> [UInt8] {
    precondition(epochs.count <= Self.maximumEpochs && !epochs.isEmpty, "\(epochs.count) epochs")
    var bytes = Self.magic
    bytes.appendBigEndian(Self.version)
    bytes.appendBigEndian(UInt32(0))
    bytes.appendBigEndian(UInt32(snapshotPosition))
    bytes.appendBigEndian(UInt64(snapshotLength))
    bytes.appendBigEndian(segment)
    bytes.appendBigEndian(offset)
    bytes.appendBigEndian(time)
    bytes.appendBigEndian(snapshotChecksum)
    bytes.append(durability.code)
    bytes.append(snapshotIsVoid ? 1 : 0)
    bytes.append(contentsOf: repeatElement(0, count: 10))
    for epoch in epochs {
      bytes.appendBigEndian(epoch.number)
      bytes.appendBigEndian(epoch.firstOffset)
    }
    let checksum = unsafe Self.checksum(bytes.span.bytes, length: bytes.count)
    bytes.storeBigEndian(checksum, at: 8)
    return bytes
  }

  private static func checksum(_ bytes: RawSpan, length: Int) -> UInt32 {
    let version = CRC32C.checksum(bytes.extracting(6..<8))
    return CRC32C.checksum(bytes.extracting(12..<length), seed: version)
  }

  enum DecodingFailure: Error, Equatable {
    case needsMore(Int)
    case newer(UInt16)
    case damaged
  }

  /// Reads the head from the first bytes of a file.
  init(decoding bytes: RawSpan) throws(DecodingFailure) {
    guard bytes.byteCount >= Self.fixedBytes else { throw .damaged }
    let magic = bytes.extracting(0..<6).copied()
    guard magic == Self.magic else { throw .damaged }
    let end = Int(bytes.bigEndian(at: 12, as: UInt32.self))
    guard (Self.fixedBytes...Self.maximumBytes).contains(end) else { throw .damaged }
    guard bytes.byteCount >= end else { throw .needsMore(end) }
    guard Self.checksum(bytes, length: end) == bytes.bigEndian(at: 8, as: UInt32.self)
    else { throw .damaged }
    let version = bytes.bigEndian(at: 6, as: UInt16.self)
    guard version == Self.version else { throw .newer(version) }
    let count = (end - Self.fixedBytes) / Self.epochBytes
    guard (1...Self.maximumEpochs).contains(count),
      end == Self.fixedBytes + count * Self.epochBytes
    else { throw .damaged }
    let length = bytes.bigEndian(at: 16, as: UInt64.self)
    guard length < 1 << 40 else { throw .damaged }
    snapshotLength = Int(length)
    segment = bytes.bigEndian(at: 24)
    offset = bytes.bigEndian(at: 32)
    guard offset >> 63 == 0 else { throw .damaged }
    time = bytes.bigEndian(at: 40)
    snapshotChecksum = bytes.bigEndian(at: 48)
    let code = bytes.bigEndian(at: 52, as: UInt8.self)
    // An unknown way to be durable is taken as the weakest.
    durability = JournalDurability(code: code) ?? .none
    snapshotIsVoid = bytes.bigEndian(at: 53, as: UInt8.self) & 1 != 0
    epochs = []
    for index in 0..<count {
      let at = Self.fixedBytes + index * Self.epochBytes
      epochs.append(
        JournalEpoch(number: bytes.bigEndian(at: at), firstOffset: bytes.bigEndian(at: at + 4)))
    }
    // The last number would leave none for the next crash.
    guard epoch < .max else { throw .damaged }
  }
}

extension JournalDurability {
  var code: UInt8 {
    switch self {
    case .fsync: 0
    case .os: 1
    case .none: 2
    }
  }

  init?(code: UInt8) {
    switch code {
    case 0: self = .fsync
    case 1: self = .os
    case 2: self = .none
    default: return nil
    }
  }

  /// The flags of a mark that opens a session.
  var flags: RecordHeader.Flags {
    switch self {
    case .fsync: []
    case .os: .durabilityOS
    case .none: .durabilityNone
    }
  }

  init(flags: RecordHeader.Flags) {
    self =
      flags.contains(.durabilityNone) ? .none : flags.contains(.durabilityOS) ? .os : .fsync
  }
}
