import EventJournal
import Primitives
import ServiceRuntime

/// What the journal commands print.
enum JournalText {
  static func json(_ info: JournalInfo) -> JSONText {
    [
      "earliest": .integer(Int64(clamping: info.offsets.lowerBound)),
      "head": .integer(Int64(clamping: info.offsets.upperBound)),
      "bytes": .integer(Int64(info.byteCount)), "closed": .boolean(info.isClosed),
      "epochs": .list(info.epochs.map(json)), "damages": .list(info.damages.map(json)),
      "segments": .list(
        info.segments.map { segment in
          [
            "file": .text(segment.file),
            "first": .integer(Int64(clamping: segment.offsets.lowerBound)),
            "next": .integer(Int64(clamping: segment.offsets.upperBound)),
            "bytes": .integer(Int64(segment.byteCount)),
            "firstTime": .text(Timestamp(nanoseconds: segment.firstTime).text),
            "lastTime": .text(Timestamp(nanoseconds: segment.lastTime).text),
          ]
        }),
    ]
  }

  static func lines(_ info: JournalInfo) -> String {
    var text =
      "offsets  \(info.offsets.lowerBound) ..< \(info.offsets.upperBound)\n"
      + "bytes    \(info.byteCount) in \(info.segments.count.counted("segment"))\n"
      + "closed   \(info.isClosed ? "cleanly" : "no: a broker runs, or was killed")\n"
    for epoch in info.epochs {
      text += "epoch    \(epoch.number) from offset \(epoch.firstOffset)\n"
    }
    for segment in info.segments {
      text +=
        "segment  \(segment.file)  \(segment.offsets.lowerBound) ..< \(segment.offsets.upperBound)  "
        + "\(segment.byteCount.counted("byte"))  \(Timestamp(nanoseconds: segment.firstTime).text) to "
        + "\(Timestamp(nanoseconds: segment.lastTime).text)\n"
    }
    for damage in info.damages { text += "damage   \(damage)\n" }
    return text
  }

  static func json(_ found: JournalVerification) -> JSONText {
    [
      "segments": .integer(Int64(found.segments)), "batches": .integer(Int64(found.batches)),
      "events": .integer(Int64(clamping: found.events)), "bytes": .integer(Int64(found.byteCount)),
      "lost": .integer(Int64(clamping: found.lost)),
      "damages": .list(found.damages.map(json)),
      "unsyncedTail": found.unsyncedTail.map(json) ?? .null,
    ]
  }

  static func lines(_ found: JournalVerification) -> String {
    var text =
      "\(found.events.counted("event")) in \(found.batches.counted("batch", "batches")), \(found.segments.counted("segment")), "
      + "\(found.byteCount.counted("byte"))\n"
    if found.lost > 0 {
      text += found.lost.counted("event was", "events were") + " given up by an earlier repair\n"
    }
    if let tail = found.unsyncedTail {
      text += "unsynced tail, which the next start cuts: \(tail)\n"
    }
    for damage in found.damages { text += "damage: \(damage)\n" }
    return text + (found.damages.isEmpty ? "everything checks\n" : "")
  }

  static func json(_ report: JournalRepairReport) -> JSONText {
    [
      "repaired": .list(report.repaired.map(json)),
      "lost": .list(
        report.lost.map {
          .list([
            .integer(Int64(clamping: $0.lowerBound)), .integer(Int64(clamping: $0.upperBound)),
          ])
        }),
      "lostFrom": report.lostFrom.map { .integer(Int64(clamping: $0)) } ?? .null,
      "sideFiles": .list(report.sideFiles.map { .text($0) }),
      "epoch": report.epoch.map(json) ?? .null,
    ]
  }

  static func lines(_ report: JournalRepairReport) -> String {
    guard !report.repaired.isEmpty else { return "nothing to repair\n" }
    var text = ""
    for damage in report.repaired { text += "repaired: \(damage)\n" }
    for range in report.lost {
      text += "lost: the events with offsets \(range.lowerBound) ..< \(range.upperBound)\n"
    }
    if let from = report.lostFrom { text += "lost: all events from offset \(from) on\n" }
    for file in report.sideFiles { text += "set aside: \(file)\n" }
    if let epoch = report.epoch {
      text += "epoch \(epoch.number) begins at offset \(epoch.firstOffset)\n"
    }
    return text
  }

  private static func json(_ epoch: JournalEpoch) -> JSONText {
    [
      "epoch": .integer(Int64(epoch.number)),
      "firstOffset": .integer(Int64(clamping: epoch.firstOffset)),
    ]
  }

  private static func json(_ damage: JournalDamage) -> JSONText {
    [
      "file": .text(damage.file), "position": .integer(Int64(damage.position)),
      "length": .integer(Int64(damage.length)), "offset": .integer(Int64(clamping: damage.offset)),
      "reason": .text(damage.reason.rawValue),
    ]
  }
}
