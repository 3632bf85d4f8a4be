internal import EventJournal
internal import EventModel
internal import Primitives

/// What may be deleted, and when the journal is full of what somebody has not read.
struct RetentionState {
  /// The first offset that is still there.
  var earliest: UInt64 = 0
  /// The segment files as they were listed last, with what was written and deleted since.
  var segments: [JournalSegment] = []
  /// Why new events are refused; nil when they are not.
  var refusal: String?
  /// Events that a named subscriber had not read when they were deleted (only with `dropUnread`).
  var droppedUnread: UInt64 = 0
  var isDeleting = false
}

/// The rules, as a pure function of the segments, the cursors and the time.
struct RetentionRules {
  var age: Int64
  var bytes: Int
  var keepUnreadBytes: Int
  var dropUnread: Bool
  /// The newest journal time at which somebody asked to be forgotten.
  var lastForget: Int64?

  struct Verdict: Equatable {
    /// Everything below may go; nil when nothing may.
    var deleteBelow: UInt64?
    var refusal: String?
  }

  /// - Parameters:
  ///   - segments: oldest first; the newest is never deleted.
  ///   - oldestNeeded: the lowest cursor of a named subscriber that counts; nil when there is none.
  ///   - now: the newest journal time. The wall clock would delete everything when it jumps ahead.
  ///   - clock: the wall clock. Segments that may hold a person who is forgotten, and that all have read,
  ///     age by it, so that they go in time on an idle bus too.
  func judge(
    _ segments: [JournalSegment], oldestNeeded: UInt64?, now: Int64, clock: Int64 = .min
  ) -> Verdict {
    var total = segments.reduce(0) { $0 + $1.byteCount }
    let unreadSegments = segments.filter { $0.offsets.upperBound > oldestNeeded ?? .max }
    let unread = unreadSegments.reduce(0) { $0 + $1.byteCount }
    var verdict = Verdict()
    // Unread events can go only after all that is older, so what was read goes with them.
    let mustDrop = dropUnread && unread > keepUnreadBytes && unreadSegments.count > 1
    var unreadLeft = unread
    for segment in segments.dropLast() {
      let isRead = segment.offsets.upperBound <= oldestNeeded ?? .max
      // One that begins at the request holds only what came after it.
      let mayHoldForgotten = lastForget.map { segment.firstTime < $0 } ?? false
      let isAged = now - segment.lastTime > age
      let isOver = total > bytes || isAged || mayHoldForgotten && isOlder(segment, clock)
      // A promise to a person goes before one to a sink that does not read.
      let mustGo = mayHoldForgotten && isAged
      if isRead ? isOver || mustDrop : mustGo || mustDrop && unreadLeft > keepUnreadBytes {
        verdict.deleteBelow = segment.offsets.upperBound
        total -= segment.byteCount
        if !isRead { unreadLeft -= segment.byteCount }
      } else {
        break
      }
    }
    if !dropUnread, unread > keepUnreadBytes {
      verdict.refusal =
        "\(unread) bytes wait for a subscriber that has not stored them yet (`eventbus consumers list`: "
        + "the lowest cursor), the limit is \(keepUnreadBytes): start it, give it time, delete it, or "
        + "raise --keep-unread-bytes"
    }
    return verdict
  }

  private func isOlder(_ segment: JournalSegment, _ clock: Int64) -> Bool {
    let (difference, overflow) = clock.subtractingReportingOverflow(segment.lastTime)
    return !overflow && difference > age
  }
}

extension BrokerCore {
  /// Looks at what may go. `segments` is the list as it is now.
  mutating func retain(_ segments: [JournalSegment], at now: Int64) {
    retention.segments = segments
    retention.earliest = segments.first?.offsets.lowerBound ?? journal.durableHead
    var rules = RetentionRules(
      age: configuration.retentionAge.nanoseconds, bytes: configuration.retentionBytes,
      keepUnreadBytes: configuration.keepUnreadBytes, dropUnread: configuration.dropUnread)
    let forget = EventName.forget
    rules.lastForget = unsafe names.find(forget.span.bytes).map { names.lastTime[$0] }
    let needed = cursors.oldestNeeded(at: now, idle: configuration.subscriberIdle)
    let verdict = rules.judge(segments, oldestNeeded: needed, now: journal.lastTime, clock: now)
    if let refusal = verdict.refusal, retention.refusal == nil {
      report(.error, "keep_unread", refusal)
    } else if verdict.refusal == nil, retention.refusal != nil {
      report(.info, "keep_unread_over", "events are taken again")
    }
    retention.refusal = verdict.refusal
    if let offset = verdict.deleteBelow, !retention.isDeleting {
      retention.isDeleting = true
      if let needed, offset > needed { retention.droppedUnread += offset - needed }
      actions.append(.read(.deleteSegments(below: offset)))
    }
  }

  mutating func deleted(segments: Int, earliest: UInt64) {
    retention.isDeleting = false
    retention.earliest = earliest
    retention.segments.removeAll {
      $0.offsets.upperBound <= earliest && $0.offsets.lowerBound < earliest
    }
    if segments > 0 {
      report(
        .info, "retention",
        "\(segments.counted("segment")) deleted, the earliest offset is \(earliest)")
    }
  }
}
