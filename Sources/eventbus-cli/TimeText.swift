import Primitives
import ServiceRuntime

/// A moment as people write it: a time, a date, or an age.
enum TimeText {
  /// Nanoseconds since 1970. `what` names the argument in the error: `--from`.
  static func nanoseconds(_ text: String, naming what: String) throws(UsageError) -> Int64 {
    if let age = Duration(argument: text), Timestamp(text: text) == nil {
      return SystemClock.realtime() - age.nanoseconds
    }
    if let time = Timestamp(text: text) { return time.nanoseconds }
    throw UsageError(
      "\(what): '\(text)' is neither a time as 2026-11-30T10:00:00Z or 2026-11-30, "
        + "nor an age as 10m or 7d")
  }
}
