// A journal of several segment files.
//
//   segments  [what u8]([first offset u8][length u16][segment file])...: as `journal`, over what lies
//             between files as well: gaps, overlaps, files of another journal, a newest one that is empty
internal import EventJournal
internal import JournalTestSupport
internal import Primitives

let segmentTargets = [FuzzTarget("segments", seeds: journals, run: recoverAll)]

private let journals: [[UInt8]] = [4, 9].flatMap { groups -> [[UInt8]] in
  let storage = FaultyStorage()
  _ = answer { () throws(JournalError) in
    var recovery = try Journal.open(storage, configuration: fuzzedJournal, now: 1_000_000_000)
    for number in 0..<groups {
      recovery.core.append(count: 1 + number % 3, time: 1_000_000_000) {
        $0 += [UInt8](repeating: 7, count: 150)
      }
      guard let group = recovery.core.takeGroup(snapshot: { [1, 2, 3] }) else { continue }
      try recovery.writer.write(group)
      recovery.core.complete(group)
    }
  }
  let names = answer { () throws(SystemError) in try storage.list() }
  guard case .success(let names) = names else { return [] }
  var bytes: [UInt8] = []
  for name in names.sorted() where name.hasSuffix(".segment") {
    let file = storage.bytes(of: name)
    bytes.append(UInt8(truncatingIfNeeded: Int(name.prefix(20)) ?? 0))
    bytes.appendBigEndian(UInt16(truncatingIfNeeded: file.count))
    bytes += file
  }
  return [0, 1, 3].map { [$0] + bytes }
}

private func recoverAll(_ input: [UInt8]) throws(Violation) {
  let (choice, rest) = input.chosen
  let storage = FaultyStorage()
  var at = 0
  while at + 3 <= rest.count {
    let length = Int(rest[at + 1]) << 8 | Int(rest[at + 2])
    let file = Array(rest[(at + 3)..<min(at + 3 + length, rest.count)])
    let digits = String(rest[at])
    let name = String(repeating: "0", count: 20 - digits.utf8.count) + digits + ".segment"
    _ = answer { () throws(SystemError) in try storage.create(name) }
    storage.replace(name, with: choice & 1 == 0 ? file : sealed(file))
    at += 3 + length
  }
  try checkJournal(storage, repairs: choice & 2 != 0)
}
