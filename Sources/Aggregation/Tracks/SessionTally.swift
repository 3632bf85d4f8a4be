/// What a window counts of the sessions that began in it, as tallies that can be taken back.
enum SessionTally {
  static let sessions = 0
  static let events = 1
  /// Milliseconds, all sessions together.
  static let length = 2
  static let firstBucket = 3
  /// Upper bounds in seconds.
  static let bounds: [Int64] = [1, 10, 60, 300, 900, 1800, 3600]
  static let labels = [
    "< 1s", "1s - 10s", "10s - 1m", "1m - 5m", "5m - 15m", "15m - 30m", "30m - 1h", ">= 1h",
  ]
  static let count = firstBucket + bounds.count + 1

  /// Adds a session, or takes it back with a sign of -1.
  static func add(_ session: SessionTrack.Session, sign: Int64, to tallies: inout [Int64]) {
    let length = session.end &- session.start
    tallies[sessions] += sign
    tallies[events] += sign * Int64(clamping: session.events)
    tallies[self.length] += sign * (length / 1_000_000)
    let bucket = bounds.firstIndex { length < $0 * 1_000_000_000 } ?? bounds.count
    tallies[firstBucket + bucket] += sign
  }
}
