// What each journal segment begins with, so that a restart reads the newest segment only. Opaque to the
// journal; big endian:
//
//   0  version    u8   1. A newer one stops the start and names the program that is needed: guessing at
//                      producers' sequences would store events twice
//   1  names      u32  each: length u8, bytes, last sequence u64, time i64
//      producers  u32  each: id 16 bytes, last sequence u64, time i64, events u64
internal import EventJournal
internal import Primitives

enum BrokerSnapshotError: Error, Hashable, CustomStringConvertible {
  case version(UInt8)
  case cutOff(at: Int)

  var description: String {
    switch self {
    case .version(let version):
      "the journal's snapshot has version \(version); this program knows version 1: start a newer eventbus"
    case .cutOff(let at): "the journal's snapshot ends early, at byte \(at)"
    }
  }
}

enum BrokerSnapshot {
  static let version: UInt8 = 1

  static func encode(names: NameTable, producers: ProducerTable) -> [UInt8] {
    var bytes: [UInt8] = [version]
    bytes.reserveCapacity(64 + names.count * 48 + producers.entries.count * 40)
    bytes.appendBigEndian(UInt32(names.count))
    for id in 0..<names.count {
      let name = names[id]
      bytes.append(UInt8(name.count))
      bytes.append(contentsOf: name)
      bytes.appendBigEndian(names.lastSequence[id])
      bytes.appendBigEndian(names.lastTime[id])
    }
    bytes.appendBigEndian(UInt32(producers.entries.count))
    for (id, entry) in producers.entries {
      bytes.appendBigEndian(id.high)
      bytes.appendBigEndian(id.low)
      bytes.appendBigEndian(entry.lastSequence)
      bytes.appendBigEndian(entry.lastTime)
      bytes.appendBigEndian(entry.events)
    }
    return bytes
  }

  /// Fills the tables from `bytes`; empty bytes are an empty snapshot.
  static func restore(
    _ bytes: [UInt8], names: inout NameTable, producers: inout ProducerTable
  ) throws(BrokerSnapshotError) {
    guard !bytes.isEmpty else { return }
    let span = unsafe bytes.span.bytes
    var at = 0
    func need(_ count: Int) throws(BrokerSnapshotError) {
      guard at + count <= span.byteCount else { throw .cutOff(at: at) }
    }
    try need(5)
    let found: UInt8 = span.bigEndian(at: 0)
    guard found == version else { throw .version(found) }
    let nameCount = Int(span.bigEndian(at: 1, as: UInt32.self))
    at = 5
    for _ in 0..<nameCount {
      try need(1)
      let length = Int(span.bigEndian(at: at, as: UInt8.self))
      try need(1 + length + 16)
      let end = at + 1 + length
      names.restore(
        span.extracting(at + 1..<end), lastSequence: span.bigEndian(at: end),
        time: span.bigEndian(at: end + 8))
      at = end + 16
    }
    try need(4)
    let producerCount = Int(span.bigEndian(at: at, as: UInt32.self))
    at += 4
    for _ in 0..<producerCount {
      try need(40)
      let id = JournalProducer(high: span.bigEndian(at: at), low: span.bigEndian(at: at + 8))
      producers.restore(
        id,
        .init(
          lastSequence: span.bigEndian(at: at + 16), lastTime: span.bigEndian(at: at + 24),
          events: span.bigEndian(at: at + 32)))
      at += 40
    }
  }
}
