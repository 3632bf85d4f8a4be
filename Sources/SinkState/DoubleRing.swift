// One kept event takes 24 bytes, in memory and in the blobs of DoublesTables.swift (big endian there):
//
//   0  hash     16 bytes   keyed hash of name, NUL, messageId
//  16  content  u32        CRC-32C of what it said
//  20  offset   u32        the low 32 bits of its offset
internal import Hashing
internal import Primitives

/// A kept event, as `Doubles` remembers it.
struct DoubleEntry: Hashable, Sendable, BitwiseCopyable {
  static let byteCount = 24

  var hash: Hash128
  var content: UInt32
  var offset: UInt32

  func encode(into bytes: inout [UInt8]) {
    bytes.appendBigEndian(hash.high)
    bytes.appendBigEndian(hash.low)
    bytes.appendBigEndian(content)
    bytes.appendBigEndian(offset)
  }

  init(hash: Hash128, content: UInt32, offset: UInt32) {
    self.hash = hash
    self.content = content
    self.offset = offset
  }

  /// The entry that begins at `at`; all of it must be there.
  init(decoding bytes: RawSpan, at: Int) {
    hash = Hash128(high: bytes.bigEndian(at: at), low: bytes.bigEndian(at: at + 8))
    content = bytes.bigEndian(at: at + 16)
    offset = bytes.bigEndian(at: at + 20)
  }
}

/// The latest entries in the order they came, numbered by serials from 0 on. Takes memory as it fills,
/// in pieces that are never copied.
struct DoubleRing: Sendable {
  private static let pieceBits = 16
  static let pieceEntries = 1 << pieceBits

  let capacity: Int
  private var pieces: [[DoubleEntry]] = []
  /// Serials of the entries that are there.
  private(set) var live: Range<UInt64> = 0..<0
  /// The serial that is in the first slot, the first time round.
  private var base: UInt64 = 0

  init(capacity: Int) { self.capacity = capacity }

  var isFull: Bool { live.count == capacity }
  var bytes: Int { pieces.reduce(0) { $0 + $1.capacity * DoubleEntry.byteCount } }

  @inline(__always)
  func slot(_ serial: UInt64) -> UInt32 {
    UInt32(truncatingIfNeeded: (serial &- base) % UInt64(truncatingIfNeeded: capacity))
  }

  @inline(__always)
  subscript(slot slot: UInt32) -> DoubleEntry {
    pieces[Int(slot) >> Self.pieceBits][Int(slot) & (Self.pieceEntries - 1)]
  }

  subscript(serial: UInt64) -> DoubleEntry { self[slot: slot(serial)] }

  /// Adds an entry behind the last; there must be room.
  mutating func append(_ entry: DoubleEntry) -> UInt32 {
    precondition(!isFull, "the ring is full")
    let slot = slot(live.upperBound)
    let piece = Int(slot) >> Self.pieceBits
    if piece == pieces.count {
      var new: [DoubleEntry] = []
      new.reserveCapacity(min(Self.pieceEntries, capacity))
      pieces.append(new)
    }
    let index = Int(slot) & (Self.pieceEntries - 1)
    if index == pieces[piece].count {
      pieces[piece].append(entry)
    } else {
      pieces[piece][index] = entry
    }
    live = live.lowerBound..<live.upperBound + 1
    return slot
  }

  mutating func removeFirst() {
    precondition(!live.isEmpty, "the ring is empty")
    live = live.lowerBound + 1..<live.upperBound
  }

  /// An empty ring whose next entry has this serial.
  mutating func restart(at serial: UInt64) {
    pieces = []
    base = serial
    live = serial..<serial
  }
}
