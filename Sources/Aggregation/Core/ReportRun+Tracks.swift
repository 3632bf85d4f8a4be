internal import EventCodec
internal import EventModel
internal import Primitives

/// What a report of users keeps of each in memory; the rest lies in the aggregator's tables.
struct TrackCache<Track: StateCoded & Sendable>: Sendable {
  private(set) var tracks: [UInt64: Track] = [:]
  private(set) var changed: Set<UInt64> = []

  var count: Int { tracks.count }

  mutating func load(
    _ user: UInt64, _ stored: [UInt8]?, or new: Track
  ) throws(StateError) -> Track {
    if let known = tracks[user] { return known }
    guard let stored else { return new }
    var reader = StateReader(stored)
    return try Track(from: &reader)
  }

  func knows(_ user: UInt64) -> Bool { tracks[user] != nil }

  mutating func store(_ track: Track, of user: UInt64) {
    tracks[user] = track
    changed.insert(user)
  }

  mutating func remove(_ user: UInt64) {
    tracks[user] = nil
    changed.remove(user)
  }

  /// What is to be written, by user.
  func encodedChanges() -> [(user: UInt64, bytes: [UInt8])] {
    changed.compactMap { user in
      tracks[user].map { track in
        var writer = StateWriter()
        track.encode(to: &writer)
        return (user, writer.bytes)
      }
    }
  }

  /// All is stored; forgets everything when there is more than `limit`.
  mutating func markSaved(keeping limit: Int) {
    changed.removeAll()
    if tracks.count > limit { tracks.removeAll() }
  }
}

// Funnels, retention and sessions: a user's track changes, and with it what windows count.
extension ReportRun {
  func follow<S: StateSource>(
    _ user: UInt64, _ event: borrowing EventView, in window: OpenWindow, from source: S
  ) throws(AggregatorError) {
    switch plan.kind {
    case .measures: break
    case .funnel(let steps, let within):
      try followFunnel(user, event, steps, within, in: window, from: source)
    case .retention(let first, let back, let periods):
      try followRetention(user, event, (first, back), periods, in: window, from: source)
    case .sessions(let gap):
      count(event, in: window)
      try followSession(user, event, gap, from: source)
    }
  }

  private func followFunnel<S: StateSource>(
    _ user: UInt64, _ event: borrowing EventView, _ steps: [ReportPlan.Matcher], _ within: Int64,
    in window: OpenWindow, from source: S
  ) throws(AggregatorError) {
    var bits: UInt32 = 0
    for (index, step) in steps.enumerated() where step.matches(event) { bits |= 1 << UInt32(index) }
    guard bits != 0 else { return }
    count(event, in: window)
    var track = try load(&funnels, user, or: FunnelTrack(), from: source)
    if let settled = settled(event.watermark, after: within) { track.removeBefore(settled) }
    let rule = plan.rule
    func range(_ time: Int64) -> Range<Int64> { rule.window(at: ReportPlan.seconds(time)) }
    let before = track.depths(steps: steps.count, within: within, window: range)
    counters.trimmed += UInt64(
      track.insert(
        FunnelTrack.Entry(time: event.time, steps: bits), steps: steps.count, within: within,
        window: range))
    for (start, depth) in track.depths(steps: steps.count, within: within, window: range) {
      let old = before[start] ?? 0
      guard depth != old else { continue }
      let sign: Int64 = depth > old ? 1 : -1
      try tally(start, event.watermark, from: source) { tallies in
        for step in min(old, depth)..<max(old, depth) { tallies[step] += sign }
      }
    }
    funnels.store(track, of: user)
  }

  private func followRetention<S: StateSource>(
    _ user: UInt64, _ event: borrowing EventView,
    _ matchers: (first: ReportPlan.Matcher, back: ReportPlan.Matcher), _ periods: Int,
    in window: OpenWindow, from source: S
  ) throws(AggregatorError) {
    var kinds: UInt8 = 0
    if matchers.first.matches(event) { kinds |= RetentionTrack.first }
    if matchers.back.matches(event) { kinds |= RetentionTrack.back }
    guard kinds != 0 else { return }
    count(event, in: window)
    var track = try load(&retentions, user, or: RetentionTrack(), from: source)
    let before = track.cohort(periods: periods, rule: plan.rule)
    counters.trimmed += UInt64(track.insert(window.state.range.lowerBound, kinds))
    let after = track.cohort(periods: periods, rule: plan.rule)
    retentions.store(track, of: user)
    if let before, let after, before == after { return }
    for (cohort, sign) in [(before, Int64(-1)), (after, 1)] {
      guard let cohort else { continue }
      try tally(cohort.window, event.watermark, from: source) { tallies in
        for period in cohort.back { tallies[period] += sign }
      }
    }
  }

  private func followSession<S: StateSource>(
    _ user: UInt64, _ event: borrowing EventView, _ gap: Int64, from source: S
  ) throws(AggregatorError) {
    var track = try load(&sessions, user, or: SessionTrack(), from: source)
    if let settled = settled(event.watermark, after: 0) {
      track.removeBefore(settled.addingSaturated(-gap))
    }
    let (removed, added) = track.insert(event.time, gap: gap)
    sessions.store(track, of: user)
    for session in removed {
      let start = plan.rule.window(at: ReportPlan.seconds(session.start)).lowerBound
      try tally(start, event.watermark, from: source) {
        SessionTally.add(session, sign: -1, to: &$0)
      }
    }
    let start = plan.rule.window(at: ReportPlan.seconds(added.start)).lowerBound
    try tally(start, event.watermark, from: source) { SessionTally.add(added, sign: 1, to: &$0) }
  }

  /// Before this time no event is taken any more, and none changes what began there.
  private func settled(_ watermark: Int64, after within: Int64) -> Int64? {
    guard plan.lateness < .max else { return nil }
    let time = watermark.addingSaturated(-plan.lateness).addingSaturated(-within)
    guard time > .min else { return nil }
    let start = plan.rule.window(at: ReportPlan.seconds(time)).lowerBound
    return ReportPlan.nanoseconds(start)
  }

  /// These reports have one group.
  private func count(_ event: borrowing EventView, in window: OpenWindow) {
    let cell = window.state.cell([], limit: 1)
    window.state.cells[cell].count += 1
    window.state.isChanged = true
  }

  /// Changes the tallies of a window, unless it is gone already.
  private func tally<S: StateSource>(
    _ start: Int64, _ watermark: Int64, from source: S, _ change: (inout [Int64]) -> Void
  ) throws(AggregatorError) {
    let range = plan.rule.window(at: start)
    guard watermark < plan.expiry(range) else { return }
    let window = try self.window(range, from: source)
    let cell = window.state.cell([], limit: 1)
    change(&window.state.cells[cell].tallies)
    window.state.isChanged = true
  }

  private func load<Track, S: StateSource>(
    _ cache: inout TrackCache<Track>, _ user: UInt64, or new: Track, from source: S
  ) throws(AggregatorError) -> Track {
    let isStored = !cache.knows(user) && !isErased(user)
    let stored = isStored ? try source.track(report: id, user: user) : nil
    do throws(StateError) {
      return try cache.load(user, stored, or: new)
    } catch {
      throw .damaged(report: plan.definition.name, error)
    }
  }
}

extension ReportPlan.Matcher {
  func matches(_ event: borrowing EventView) -> Bool {
    pattern.matches(event.name) && conditions.allSatisfy { $0.matches(event.payload) }
  }
}
