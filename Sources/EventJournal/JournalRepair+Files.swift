internal import Primitives

extension JournalRepair {
  /// Keeps `length` bytes from where the damage begins, since they are about to go, in a file that is durable before they go.
  mutating func copyAside(
    _ damage: JournalDamage, length: Int, of file: Storage.File
  ) throws(JournalError) {
    guard length > 0 else { return }
    let name = try sideName(damage)
    do {
      let side = try storage.create(name)
      var copied = 0
      while copied < length {
        let bytes = try file.read(min(length - copied, 1 << 20), at: damage.position + copied)
        guard !bytes.isEmpty else { break }
        try side.write(bytes, at: copied)
        copied += bytes.count
      }
      try side.synchronize()
      try storage.synchronizeDirectory()
    } catch { throw .from(error) }
    report.sideFiles.append(name)
  }

  /// A name that no file has: a repair that is run again keeps what the first one saved.
  func sideName(_ damage: JournalDamage) throws(JournalError) -> String {
    let names: [String]
    do { names = try storage.list() } catch { throw .system(error) }
    let stem = "damaged-\(damage.file.dropLast(SegmentHeader.suffix.count))-\(damage.position)"
    var name = stem
    var number = 1
    while names.contains(name) {
      number += 1
      name = "\(stem)-\(number)"
    }
    return name
  }

  func open(_ name: String) throws(JournalError) -> Storage.File {
    do { return try storage.open(name, forWriting: true) } catch { throw .system(error) }
  }

  func write(_ bytes: [UInt8], at position: Int, in file: Storage.File) throws(JournalError) {
    try call { () throws(SystemError) in try file.write(bytes, at: position) }
  }

  func synchronizeDirectory() throws(JournalError) {
    try call { () throws(SystemError) in try storage.synchronizeDirectory() }
  }

  func call(_ body: () throws(SystemError) -> Void) throws(JournalError) {
    do { try body() } catch { throw .from(error) }
  }
}

/// Offsets that are gone, turned into records that say so.
struct LostRange {
  private var range: Range<UInt64>
  private let segment: UInt64
  private let time: Int64
  private var epoch: UInt32
  private let nextEpoch: UInt32

  init(_ range: Range<UInt64>, _ broken: SegmentSurvey.Break, _ header: SegmentHeader) {
    self.range = range
    segment = header.segment
    time = broken.time
    epoch = broken.epoch
    // The mark that began the next record's epoch may be among what is lost.
    nextEpoch = broken.nextEpoch ?? broken.epoch
  }

  /// Whether records in the bytes of `damage` can say that everything up to `resumes` is lost. Always
  /// so between two records that the journal wrote.
  static func fits(_ damage: JournalDamage, to resumes: UInt64) -> Bool {
    damage.length >= RecordHeader.byteCount && resumes - damage.offset <= UInt64(UInt32.max)
  }

  var isEmpty: Bool { range.isEmpty }

  /// One record with a body of filler. A count holds 32 bits, so a longer range takes several.
  mutating func next(bodyLength: Int, takesAll: Bool) -> [UInt8] {
    let count = min(range.upperBound - range.lowerBound, UInt64(UInt32.max))
    let begins = nextEpoch != epoch
    epoch = nextEpoch
    let header = RecordHeader(
      bodyLength: bodyLength, kind: .lost, flags: begins ? .epochBegins : [], segment: segment,
      offset: range.lowerBound, count: Int(count), epoch: epoch, time: time,
      synced: range.lowerBound)
    range = (range.lowerBound + count)..<range.upperBound
    precondition(!takesAll || range.isEmpty, "more events are lost than bytes")
    return header.encoded(body: [UInt8](repeating: 0, count: bodyLength))
  }
}
