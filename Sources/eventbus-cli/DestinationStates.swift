import Database
import Destinations
import Primitives
import ServiceRuntime
import SinkState

/// The destinations of a data directory, as `status` shows them: read from their state files, which the
/// publishers write every few seconds, so that a stopped one shows too.
enum DestinationStates {
  struct Unreadable: Sendable {
    var name: String
    var why: String
  }

  static func read(data: String) -> ([StoredStatus], [Unreadable]) {
    var found: [StoredStatus] = []
    var unreadable: [Unreadable] = []
    for folder in DestinationFolder.all(data: data) {
      do throws(DatabaseError) {
        found.append(try StoredStatus(folder))
      } catch {
        unreadable.append(Unreadable(name: folder.folderName, why: "\(error)"))
      }
    }
    return (found, unreadable)
  }

  /// The rows of a table, and a note for each file that cannot be read.
  static func text(data: String) -> String {
    let (found, unreadable) = read(data: data)
    guard !found.isEmpty || !unreadable.isEmpty else { return "\nDestinations: none in \(data)\n" }
    var table = Table([
      .init("destination"), .init("state"), .init("lag", .right), .init("oldest waiting", .right),
      .init("events/s", .right), .init("applied", .right), .init("dead letters", .right),
      .init("reason"),
    ])
    for status in found { table.append(row(status)) }
    var text = "\nDestinations\n" + (table.isEmpty ? "" : table.text)
    for one in unreadable {
      text += "\(TerminalText.escape(one.name)): \(TerminalText.escape(one.why))\n"
    }
    return text
  }

  private static func row(_ status: StoredStatus) -> [String] {
    let age = status.oldest.map { oldest in
      let seconds = (SystemClock.realtime() - oldest.nanoseconds) / 1_000_000_000
      return "\(max(0, seconds)) s"
    }
    let state = status.state.isEmpty ? "new" : status.state
    return [
      status.folder.folderName, status.isRunning ? state : "stopped (was \(state))",
      "\(status.lag)", age ?? "-", "\(Int64(status.rate))",
      "\(status.progress?.ledger.applied ?? 0)",
      "\(status.letters.count)\(status.letters.queued > 0 ? " (\(status.letters.queued) queued)" : "")",
      status.reason,
    ]
  }

  /// A JSON list; what `/status` of each gave, and whether it runs.
  static func json(data: String) -> String {
    let (found, unreadable) = read(data: data)
    let items =
      found.map { status in
        let head = JSONText.object([
          .init("name", .text(status.folder.folderName)),
          .init("running", .boolean(status.isRunning)),
          .init("writtenAt", status.writtenAt.map { .text($0.text) } ?? .null),
          .init("state", .text(status.state)), .init("reason", .text(status.reason)),
          .init("lag", .integer(Int64(clamping: status.lag))),
          .init("waiting", .integer(Int64(clamping: status.waiting))),
          .init("oldestWaiting", status.oldest.map { .text($0.text) } ?? .null),
          .init("eventsPerSecond", .double(status.rate)),
          .init("deadLetters", PublisherStatus.letters(status.letters)),
          .init("ledger", status.progress.map(PublisherStatus.ledger) ?? .null),
        ])
        return "\(head)".dropLast() + ",\"status\":\(status.json.isEmpty ? "null" : status.json)}"
      }
      + unreadable.map { one in
        "\(JSONText.object([.init("name", .text(one.name)), .init("error", .text(one.why))]))"
      }
    return "[" + items.joined(separator: ",") + "]"
  }
}
