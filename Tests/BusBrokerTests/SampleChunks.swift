import BusProtocol
import Primitives

@testable import BusBroker
@testable import EventJournal

/// Journal chunks without a journal: each batch is a list of event names.
enum SampleChunks {
  static let epoch: UInt32 = 3

  /// One payload byte an event: its number in the batch.
  static func batch(_ names: [String], addressees: [String] = []) -> [UInt8] {
    var builder = BatchBuilder()
    for (index, name) in names.enumerated() {
      builder.payloads.append(UInt8(index))
      builder.append(name: Array(name.utf8))
    }
    var bytes: [UInt8] = []
    builder.build(into: &bytes, addressees: addressees.map { Array($0.utf8) })
    return bytes
  }

  /// The batches one after another from offset `first` on.
  static func chunk(first: UInt64, _ batches: [[UInt8]]) -> JournalChunk {
    var bytes: [UInt8] = []
    var records: [JournalRecord] = []
    var offset = first
    for batch in batches {
      let count = Int(unsafe batch.span.bytes.bigEndian(at: 4, as: UInt32.self))
      records.append(
        JournalRecord(
          offset: offset, count: count, epoch: epoch, time: Int64(offset) * 10,
          bodyPosition: bytes.count, bodyLength: batch.count, producer: .none, sequence: 0))
      bytes += batch
      offset += UInt64(count)
    }
    return JournalChunk(bytes: bytes, records: records, offsets: first..<offset)
  }

  static func chunk(first: UInt64, _ batches: [[String]]) -> JournalChunk {
    chunk(first: first, batches.map { batch($0) })
  }
}
