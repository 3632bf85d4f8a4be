import Archive
import EventCodec
import Primitives
import ServiceRuntime

/// Which paths that a command line names no event has had. A slip of the pen gives an empty result, and says
/// nothing by itself; a path that is rare is named only when the run ended without one event that has it.
struct PathWatch {
  private struct Item {
    var path: [[UInt8]]
    var option: String
    /// An event that satisfies it, as by `!=`, is an answer too.
    var clause: WhereClause?
  }

  private var unseen: [Item] = []
  private var events: UInt64 = 0

  mutating func add(_ clause: WhereClause) {
    unseen.append(Item(path: clause.path, option: "where", clause: clause))
  }

  mutating func add(_ path: [[UInt8]], of option: String) {
    unseen.append(Item(path: path, option: option))
  }

  /// Costs a look for each path until one event has it.
  mutating func look(_ payload: RawSpan) {
    events += 1
    guard !unseen.isEmpty else { return }
    unseen.removeAll { item in
      if let clause = item.clause, clause.matches(payload) { return true }
      do throws(MessagePackError) {
        return try PayloadReader(payload).range(at: item.path) != nil
      } catch {
        return true
      }
    }
  }

  /// Says it, at the end; nothing where there was no event.
  func tell() {
    for item in unseen { Self.tell(events, item.path, item.option) }
  }

  /// The same for the conditions of a query.
  static func tell(_ report: QueryReport, _ clauses: [WhereClause]) {
    for (clause, sight) in zip(clauses, report.clauses) where !sight.isSeen {
      tell(sight.events, clause.path, "where")
    }
  }

  static func tell(_ events: UInt64, _ path: [[UInt8]], _ option: String) {
    guard events > 0 else { return }
    let text = path.map { String(decoding: $0, as: UTF8.self) }.joined(separator: ".")
    Terminal.error("note: none of \(events.counted("event")) has '\(text)' (--\(option))")
  }
}
