/// Keeps a fault that repeats from filling the log.
///
/// The first line of a message passes; the same message within the next ten seconds is only
/// counted. The count is told with the first line after those ten seconds, or when another message
/// comes.
struct LogRepeats {
  /// Nanoseconds during which the same message is counted only.
  static let window: Int64 = 10_000_000_000

  private var last: String?
  private var windowEnd: Int64 = 0
  private var suppressed = 0

  struct Decision: Equatable {
    var isWritten: Bool
    /// How many earlier lines of the message `about` were left out.
    var repeated = 0
    var about = ""
  }

  /// - Parameter key: level, label and message together, without the fields.
  mutating func decide(_ key: String, at now: Int64) -> Decision {
    if key == last, now < windowEnd {
      suppressed += 1
      return Decision(isWritten: false)
    }
    let decision = Decision(isWritten: true, repeated: suppressed, about: last ?? "")
    last = key
    windowEnd = now + Self.window
    suppressed = 0
    return decision
  }
}
