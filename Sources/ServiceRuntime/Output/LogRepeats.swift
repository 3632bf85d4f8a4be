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
    var line: LogLine
    var windowEnd: Int64
    var suppressed = 0
  }

  /// In the order of their windows' ends.
  private var messages: [Message] = []

  struct Notice {
    /// The first of them, without its fields but `name`.
    var about: LogLine
    /// How many lines of it were left out.
    var count: Int
  }

  struct Decision {
    var isWritten: Bool
    /// To be written before it.
    var notices: [Notice] = []
  }

  mutating func decide(_ line: LogLine, at now: Int64) -> Decision {
    guard !line.isChange else { return Decision(isWritten: true, notices: takeNotices()) }
    let key = Self.key(line)
    if let index = messages.firstIndex(where: { $0.key == key && now < $0.windowEnd }) {
      messages[index].suppressed += 1
      return Decision(isWritten: false)
    }
    let notices = takeNotices()
    messages.removeAll { $0.key == key || now >= $0.windowEnd }
    if messages.count == Self.maximumMessages { messages.removeFirst() }
    var about = line
    about.fields.removeAll { $0.key != "name" }
    messages.append(Message(key: key, line: about, windowEnd: now + Self.window))
    return Decision(isWritten: true, notices: notices)
  }

  /// What was left out since it was told last.
  private mutating func takeNotices() -> [Notice] {
    var notices: [Notice] = []
    for index in messages.indices where messages[index].suppressed > 0 {
      notices.append(Notice(about: messages[index].line, count: messages[index].suppressed))
      messages[index].suppressed = 0
    }
    return notices
  }

  /// What makes two lines the same: of a fault not its fields, which count up or name a place, but for
  /// `name`, which says whose fault it is; of what went well they are the news ("service ready" of each service).
  private static func key(_ line: LogLine) -> String {
    let message = "\(line.level.name) \(line.label) \(line.message)"
    let told = line.level < .warning ? line.fields : line.fields.filter { $0.key == "name" }
    return told.reduce(into: message) { $0 += " \($1)" }
  }
}
