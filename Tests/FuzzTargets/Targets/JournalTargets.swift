// A journal's newest segment file.
//
//   journal  [what u8][segment file]: an open refuses it by an error that says what to do, or recovers
//            what is then read from end to end and found again by the next open. Bit 0 of the first byte
//            makes all checksums fit first, or no input would get past them; bit 1 repairs before.
internal import EventJournal
internal import JournalTestSupport
internal import Primitives

let journalTargets = [FuzzTarget("journal", seeds: segments, run: recover)]

let fuzzedJournal = JournalConfiguration(
  durability: .fsync, segmentBytes: 900, groupBytes: 400)
private let name = "00000000000000000000.segment"
private let now: Int64 = 1_000_000_000

private let segments: [[UInt8]] = [0, 1, 3].flatMap { groups -> [[UInt8]] in
  let storage = FaultyStorage()
  _ = answer { () throws(JournalError) in
    var recovery = try Journal.open(storage, configuration: fuzzedJournal, now: now)
    for number in 0..<groups {
      recovery.core.append(count: 1 + number, time: now) { $0 += [UInt8](repeating: 7, count: 9) }
      guard let group = recovery.core.takeGroup(snapshot: { [1, 2, 3] }) else { continue }
      try recovery.writer.write(group)
      recovery.core.complete(group)
    }
  }
  return [0, 1, 3].map { [$0] + storage.bytes(of: name) }
}

private func recover(_ input: [UInt8]) throws(Violation) {
  let (choice, bytes) = input.chosen
  let storage = FaultyStorage()
  _ = answer { () throws(SystemError) in try storage.create(name) }
  storage.replace(name, with: choice & 1 == 0 ? bytes : sealed(bytes))
  try checkJournal(storage, repairs: choice & 2 != 0)
}

/// What holds of whatever lies in a journal's folder.
func checkJournal(_ storage: FaultyStorage, repairs: Bool) throws(Violation) {
  if repairs {
    let repaired = answer { () throws(JournalError) in try Journal.repair(storage, now: now) }
    guard case .success = repaired else { return }
  }
  _ = answer { () throws(JournalError) in try Journal.verify(storage) }
  switch answer({ () throws(JournalError) in try offsets(of: storage) }) {
  case .failure(.system(let error)): throw Violation(description: "blames the system: \(error)")
  case .failure: return
  case .success(let found):
    for (record, next) in zip(found, found.dropFirst()) {
      // What a repair gave up is missing between them.
      try require(record.upperBound <= next.lowerBound, "\(next) after \(record)")
    }
    let again = try accepted("the next open") { () throws(JournalError) in
      try offsets(of: storage.afterKill())
    }
    try require(again == found, "\(found) became \(again)")
  }
}

/// The offsets of every record that can be read.
private func offsets(of storage: FaultyStorage) throws(JournalError) -> [Range<UInt64>] {
  let recovery = try Journal.open(storage, configuration: fuzzedJournal, now: now)
  try recovery.replay { _ in }
  let head = recovery.core.head
  var found: [Range<UInt64>] = []
  var at = recovery.journal.earliest
  while let chunk = try recovery.journal.read(from: at, maximumBytes: 300, upTo: head) {
    found += chunk.records.map { $0.offset..<$0.offset + UInt64($0.count) }
    guard chunk.offsets.upperBound > at else { break }
    at = chunk.offsets.upperBound
  }
  _ = try recovery.journal.offset(atOrAfter: now, upTo: head)
  return found
}

/// The same file with checksums that fit, as far as its lengths lead from one record to the next.
func sealed(_ file: [UInt8]) -> [UInt8] {
  var bytes = file
  guard bytes.count >= 64 else { return bytes }
  let length = Int(number(bytes, 12))
  let snapshot = Int(number(bytes, 20))
  // A repair makes room for a snapshot that is missing; the disk here is memory.
  guard length >= 64, length + snapshot <= bytes.count, number(bytes, 16) == 0 else { return bytes }
  store(CRC32C.checksum(Array(bytes[length..<length + snapshot])), 48, &bytes)
  let seed = CRC32C.checksum(Array(bytes[6..<8]))
  store(CRC32C.checksum(unsafe bytes.span.bytes.extracting(12..<length), seed: seed), 8, &bytes)
  var at = length + snapshot
  while at + RecordHeader.byteCount <= bytes.count {
    let end = at + RecordHeader.byteCount + Int(number(bytes, at + 8))
    guard end <= bytes.count else { break }
    store(CRC32C.checksum(Array(bytes[(at + 8)..<end])), at + 4, &bytes)
    at = end
  }
  return bytes
}

private func number(_ bytes: [UInt8], _ at: Int) -> UInt32 {
  bytes[at..<at + 4].reduce(0) { $0 << 8 | UInt32($1) }
}

private func store(_ value: UInt32, _ at: Int, _ bytes: inout [UInt8]) {
  for index in 0..<4 { bytes[at + index] = UInt8(truncatingIfNeeded: value >> (24 - 8 * index)) }
}
