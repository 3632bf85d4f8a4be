/// Keeps faults that repeat from filling the log.
///
/// The first line of a message passes; the same message within the next ten seconds is only counted. The
/// count is told before the next line that is written. So two faults that take turns are filtered too, up
/// to `maximumMessages` different ones; of more, the oldest is forgotten and told of.
struct LogRepeats {
  /// Nanoseconds during which the same message is counted only.
  static let window: Int64 = 10_000_000_000
  static let maximumMessages = 16

  private struct Message {
    var key: String
    var windowEnd: Int64
    var suppressed = 0
  }

  /// In the order of their windows' ends.
  private var messages: [Message] = []

  struct Notice: Equatable {
    var about: String
    /// How many lines of it were left out.
    var count: Int
  }

  struct Decision: Equatable {
    var isWritten: Bool
    /// To be written before it.
    var notices: [Notice] = []
  }

  /// - Parameter key: level, label and message together, without the fields.
  mutating func decide(_ key: String, at now: Int64) -> Decision {
    if let index = messages.firstIndex(where: { $0.key == key && now < $0.windowEnd }) {
      messages[index].suppressed += 1
      return Decision(isWritten: false)
    }
    var notices: [Notice] = []
    for index in messages.indices where messages[index].suppressed > 0 {
      notices.append(Notice(about: messages[index].key, count: messages[index].suppressed))
      messages[index].suppressed = 0
    }
    messages.removeAll { $0.key == key || now >= $0.windowEnd }
    if messages.count == Self.maximumMessages { messages.removeFirst() }
    messages.append(Message(key: key, windowEnd: now + Self.window))
    return Decision(isWritten: true, notices: notices)
  }
}
