/// One user's sessions: runs of events that are no further apart than the gap.
///
/// An event that comes late extends a session, or joins two, so the order of arrival changes nothing. At
/// most 256 are kept; the oldest go first: what lies before them can make a session of its own.
struct SessionTrack: Sendable, Equatable {
  static let limit = 256

  struct Session: Sendable, Equatable {
    /// Nanoseconds since 1970 of the first and the last event.
    var start: Int64
    var end: Int64
    var events: UInt64
  }

  private(set) var sessions: [Session] = []

  /// Takes an event: the sessions that are no more, and the one that stands in their place.
  mutating func insert(_ time: Int64, gap: Int64) -> (removed: [Session], added: Session) {
    let from = sessions.firstIndex { Self.distance($0.end, time) <= gap } ?? sessions.count
    var end = from
    while end < sessions.count, Self.distance(time, sessions[end].start) <= gap { end += 1 }
    let removed = from < end ? Array(sessions[from..<end]) : []
    var added = Session(start: time, end: time, events: 1)
    for session in removed {
      added.start = min(added.start, session.start)
      added.end = max(added.end, session.end)
      added.events += session.events
    }
    if removed.isEmpty {
      let at = sessions.firstIndex { $0.start > time } ?? sessions.count
      sessions.insert(added, at: at)
    } else {
      sessions.replaceSubrange(from..<end, with: [added])
    }
    if sessions.count > Self.limit { sessions.removeFirst() }
    return (removed, added)
  }

  mutating func removeBefore(_ time: Int64) { sessions.removeAll { $0.end < time } }

  /// How long after `earlier` a moment is; negative or zero when it is not after it.
  private static func distance(_ earlier: Int64, _ later: Int64) -> Int64 {
    let (distance, overflow) = later.subtractingReportingOverflow(earlier)
    return overflow ? (later > earlier ? .max : .min) : distance
  }
}

extension SessionTrack: StateCoded {
  // count, each: start zigzag, length in nanoseconds, events
  func encode(to output: inout StateWriter) {
    output.number(sessions.count)
    for session in sessions {
      output.signed(session.start)
      output.number(UInt64(bitPattern: session.end &- session.start))
      output.number(session.events)
    }
  }

  init(from input: inout StateReader) throws(StateError) {
    for _ in 0..<(try input.count(of: 3)) {
      let start = try input.signed()
      let length = Int64(bitPattern: try input.number())
      sessions.append(
        Session(start: start, end: start &+ length, events: try input.events()))
    }
  }
}
