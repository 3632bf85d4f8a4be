internal import BusProtocol

/// What was refused, by where and why, with the newest sample of each for whoever looks into it.
///
/// Bounded: there are as many rows as codes and ports.
struct RefusalCounts {
  struct Entry: Sendable {
    /// Events; a message that has none counts once.
    var count: UInt64 = 0
    var sample = ""
  }

  /// Where it was refused: `bus`, `publish`, `push` or `live`.
  enum Port: String, Sendable, CaseIterable {
    case bus, publish, push, live
  }

  struct Key: Hashable, Sendable {
    var port: Port
    var code: RefusalCode
  }

  private(set) var entries: [Key: Entry] = [:]
  /// Events among them. A batch of unknown content counts once.
  private(set) var events: UInt64 = 0

  /// - Parameter events: 0 for what holds none, as a request or a message that cannot be read.
  mutating func count(_ code: RefusalCode, on port: Port, events: Int = 1, sample: String) {
    self.events += UInt64(events)
    entries[Key(port: port, code: code), default: Entry()].count += UInt64(max(1, events))
    entries[Key(port: port, code: code)]!.sample = Self.cut(sample)
  }

  /// Adds what another thread counted.
  mutating func add(_ others: [Key: Entry]) {
    for (key, entry) in others {
      events += entry.count
      entries[key, default: Entry()].count += entry.count
      entries[key]!.sample = Self.cut(entry.sample)
    }
  }

  /// By bytes: one character of a peer's text may have any number of them.
  private static func cut(_ sample: String) -> String {
    String(decoding: sample.utf8.prefix(200), as: UTF8.self)
  }
}
