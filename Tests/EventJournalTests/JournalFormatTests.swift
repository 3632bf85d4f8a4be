internal import EventJournal
internal import JournalTestSupport
internal import Primitives
internal import Testing

/// The bytes of a segment file, and what a program does with those of another version.
struct JournalFormatTests {
  private static let configuration = JournalConfiguration(durability: .fsync)

  /// A journal with one batch: its file's name and the disk.
  private func oneBatch() throws -> (FaultyStorage, String) {
    let storage = FaultyStorage()
    var recovery = try Journal.open(storage, configuration: Self.configuration, now: 7_000_000_000)
    recovery.core.append(
      count: 3, producer: JournalProducer(high: 0x0102, low: 0x0304), sequence: 0x0506,
      time: 7_000_000_009
    ) { $0 += [0xAA, 0xBB] }
    let group = try #require(recovery.core.takeGroup { [] })
    try recovery.writer.write(group)
    return (storage, try #require(storage.segmentNames.first))
  }

  /// Puts the right checksum on a changed head.
  private func sealHead(_ bytes: inout [UInt8]) {
    let version = CRC32C.checksum(Array(bytes[6..<8]))
    bytes.storeBigEndian(CRC32C.checksum(Array(bytes[12..<76]), seed: version), at: 8)
  }

  private func sealRecord(_ bytes: inout [UInt8], at start: Int) {
    bytes.storeBigEndian(CRC32C.checksum(Array(bytes[(start + 8)...])), at: start + 4)
  }

  @Test func `a segment file has the bytes that its layout says`() throws {
    let (storage, name) = try oneBatch()
    #expect(name == "00000000000000000000.segment")
    var bytes = storage.bytes(of: name)
    let segment = Array(bytes[24..<32])
    #expect(Array(bytes[76 + 16..<76 + 24]) == segment, "the record carries the file's id")
    // The id is random and the checksums depend on it; all else is fixed.
    for at in [8, 24, 80, 92] {
      bytes.replaceSubrange(
        at..<(at + (at == 8 || at == 80 ? 4 : 8)),
        with: repeatElement(0, count: at == 8 || at == 80 ? 4 : 8))
    }
    let head: [UInt8] =
      Array("EBSEGM".utf8) + [0, 1] + [0, 0, 0, 0] + [0, 0, 0, 76] + zeros(8) + zeros(8) + zeros(8)
      + [0, 0, 0, 1, 0xA1, 0x3B, 0x86, 0x00] + zeros(4) + [0] + [0] + zeros(10)
      + [0, 0, 0, 7] + zeros(8)
    let record: [UInt8] =
      Array("EBR".utf8) + [1] + zeros(4) + [0, 0, 0, 2] + [0, 0, 0, 0] + zeros(8) + zeros(8)
      + [0, 0, 0, 3] + [0, 0, 0, 7] + [0, 0, 0, 1, 0xA1, 0x3B, 0x86, 0x09] + zeros(8)
      + zeros(6) + [1, 2] + zeros(6) + [3, 4] + zeros(6) + [5, 6] + [0xAA, 0xBB]
    #expect(bytes == head + record)
  }

  @Test func `a newer file is named and not touched`() throws {
    let (storage, name) = try oneBatch()
    var bytes = storage.bytes(of: name)
    bytes[7] = 2
    sealHead(&bytes)
    storage.replace(name, with: bytes)
    let error = JournalError.newerFormat(file: name, version: 2, supported: 1)
    #expect(throws: error) {
      try Journal.open(storage, configuration: Self.configuration, now: 8_000_000_000)
    }
    #expect(throws: error) { try Journal.repair(storage, now: 8_000_000_000) }
    #expect(throws: error) { try Journal.verify(storage) }
    #expect(storage.bytes(of: name) == bytes)
  }

  @Test func `a version that a flipped bit made is damage`() throws {
    let (storage, name) = try oneBatch()
    var bytes = storage.bytes(of: name)
    bytes[7] = 3
    storage.replace(name, with: bytes)
    #expect(try Journal.verify(storage).damages.map(\.reason) == [.fileHeader])
  }

  @Test func `reserved bytes and unknown flags are ignored`() throws {
    let (storage, name) = try oneBatch()
    var bytes = storage.bytes(of: name)
    for at in 54..<64 { bytes[at] = 9 }
    bytes[53] = 0x80
    sealHead(&bytes)
    bytes[76 + 13] = 0x80
    bytes[76 + 14] = 9
    sealRecord(&bytes, at: 76)
    storage.replace(name, with: bytes)
    let recovery = try Journal.open(storage, configuration: Self.configuration, now: 8)
    #expect(recovery.core.head == 3)
    #expect(try recovery.journal.entries(upTo: 3, maximumBytes: 100).first?.body == [0xAA, 0xBB])
  }

  @Test func `a record of an unknown kind is passed over with its offsets`() throws {
    let (storage, name) = try oneBatch()
    var bytes = storage.bytes(of: name)
    bytes[76 + 12] = 77
    sealRecord(&bytes, at: 76)
    storage.replace(name, with: bytes)
    let recovery = try Journal.open(storage, configuration: Self.configuration, now: 8)
    #expect(recovery.core.head == 3)
    let chunk = try #require(try recovery.journal.read(from: 1, maximumBytes: 1, upTo: 3))
    #expect(chunk.records.isEmpty && chunk.lost == [0..<3] && chunk.offsets == 0..<3)
  }

  @Test func `a record length beyond the limit is damage and costs no memory`() throws {
    let (storage, name) = try oneBatch()
    var bytes = storage.bytes(of: name)
    bytes.storeBigEndian(UInt32.max, at: 76 + 8)
    storage.replace(name, with: bytes)
    let recovery = try Journal.open(storage, configuration: Self.configuration, now: 8)
    #expect(recovery.cut?.damage.reason == .notARecord)
  }

  @Test func `a record that says more is synced than stands before it is damage`() throws {
    let (storage, name) = try oneBatch()
    var bytes = storage.bytes(of: name)
    bytes.storeBigEndian(UInt64(1) << 62, at: 76 + 48)
    sealRecord(&bytes, at: 76)
    storage.replace(name, with: bytes)
    // It once made `repair` say of 2^62 offsets that they are lost, 80 bytes for each 2^32.
    let report = try Journal.repair(storage, now: 8_000_000_000)
    #expect(report.repaired.map(\.reason) == [.notARecord] && report.lost.isEmpty)
    let recovery = try Journal.open(storage, configuration: Self.configuration, now: 8)
    #expect(recovery.core.head == 0)
  }

  @Test func `a record that is 2^32 events ahead is no place to go on from`() throws {
    let (storage, name) = try oneBatch()
    var bytes = storage.bytes(of: name)
    bytes.storeBigEndian(UInt64(1) << 62, at: 76 + 24)
    sealRecord(&bytes, at: 76)
    storage.replace(name, with: bytes)
    let report = try Journal.repair(storage, now: 8_000_000_000)
    #expect(report.repaired.map(\.reason) == [.wrongOffset] && report.lost.isEmpty)
  }

  @Test func `a head of another length than its epochs have is damage`() throws {
    let (storage, name) = try oneBatch()
    var bytes = storage.bytes(of: name)
    bytes[15] += 1
    bytes.insert(0, at: 76)
    let version = CRC32C.checksum(Array(bytes[6..<8]))
    bytes.storeBigEndian(CRC32C.checksum(Array(bytes[12..<77]), seed: version), at: 8)
    storage.replace(name, with: bytes)
    #expect(try Journal.verify(storage).damages.map(\.reason) == [.fileHeader])
  }

  @Test func `an epoch that can have no next one is damage`() throws {
    let (storage, name) = try oneBatch()
    let good = storage.bytes(of: name)
    var bytes = good
    bytes.storeBigEndian(UInt32.max, at: 64)
    sealHead(&bytes)
    storage.replace(name, with: bytes)
    #expect(try Journal.verify(storage).damages.map(\.reason) == [.fileHeader])
    bytes = good
    bytes.storeBigEndian(UInt32.max, at: 76 + 36)
    bytes[76 + 13] = 1
    sealRecord(&bytes, at: 76)
    storage.replace(name, with: bytes)
    #expect(try Journal.verify(storage).unsyncedTail?.reason == .notARecord)
  }

  private func zeros(_ count: Int) -> [UInt8] { [UInt8](repeating: 0, count: count) }
}
