/// One user's steps in a funnel.
///
/// The steps are kept with their times, in order of time, so the answer is the same in whatever order
/// they came. At most 256: the oldest goes that leads nowhere, or that is a beginning and a later one of
/// its window is as good; without any such the oldest of all. They are counted: what comes late may have
/// needed them.
struct FunnelTrack: Sendable, Equatable {
  static let limit = 256

  struct Entry: Sendable, Equatable {
    /// Nanoseconds since 1970.
    var time: Int64
    /// Bit n: it counts as step n.
    var steps: UInt32
  }

  private(set) var entries: [Entry] = []

  /// Takes a step; returns how many were given up for it.
  mutating func insert(
    _ entry: Entry, steps: Int, within: Int64, window: (Int64) -> Range<Int64>
  ) -> Int {
    let at = entries.firstIndex { $0.time > entry.time } ?? entries.count
    entries.insert(entry, at: at)
    guard entries.count > Self.limit else { return 0 }
    entries.remove(at: leastNeeded(steps: steps, within: within, window: window))
    return 1
  }

  /// The entry without which events that come in order are answered as with it, if there is one.
  private func leastNeeded(
    steps: Int, within: Int64, window: (Int64) -> Range<Int64>
  ) -> Int {
    var isOnWay = [Bool](repeating: false, count: entries.count)
    // The deepest beginning behind the one that is looked at, by window, and the oldest that is no better.
    var deepest: [Int64: Int] = [:]
    var replaced = Int.max
    for index in entries.indices.reversed() where entries[index].steps & 1 != 0 {
      let way = way(from: index, steps: steps, within: within)
      let start = window(entries[index].time).lowerBound
      if let later = deepest[start], later >= way.count { replaced = index }
      deepest[start] = max(deepest[start] ?? 0, way.count)
      for step in way { isOnWay[step] = true }
    }
    // Of both kinds the oldest: what is new may still get a beginning that comes late.
    let oldest = min(isOnWay.firstIndex(of: false) ?? .max, replaced)
    return oldest < entries.count ? oldest : 0
  }

  /// Forgets what lies before a time: no event can change its windows any more.
  mutating func removeBefore(_ time: Int64) { entries.removeAll { $0.time < time } }

  /// How many steps were taken at best, beginning in each window: by the window's first second.
  func depths(
    steps: Int, within: Int64, window: (Int64) -> Range<Int64>
  ) -> [Int64: Int] {
    var depths: [Int64: Int] = [:]
    for (index, entry) in entries.enumerated() where entry.steps & 1 != 0 {
      let start = window(entry.time).lowerBound
      let depth = way(from: index, steps: steps, within: within).count
      depths[start] = max(depths[start] ?? 0, depth)
    }
    return depths
  }

  /// The earliest event for each next step is as good as any. One event is one step; of several at the
  /// same moment the one that can be the fewest steps is taken, so that the others are left for theirs.
  private func way(from first: Int, steps: Int, within: Int64) -> [Int] {
    let (end, isBeyond) = entries[first].time.addingReportingOverflow(within)
    let latest = isBeyond ? Int64.max : end
    var used = [first]
    while used.count < steps,
      let next = next(used.count, after: used[used.count - 1], until: latest, besides: used)
    { used.append(next) }
    return used
  }

  /// Entries are in order of time, so only those between are looked at.
  private func next(
    _ step: Int, after last: Int, until latest: Int64, besides used: [Int]
  ) -> Int? {
    var index = last
    while index > 0, entries[index - 1].time == entries[last].time { index -= 1 }
    var best: Int?
    while index < entries.count, entries[index].time <= latest {
      defer { index += 1 }
      let entry = entries[index]
      if let best, entry.time > entries[best].time { break }
      guard entry.steps >> UInt32(step) & 1 != 0, !used.contains(index) else { continue }
      guard let found = best.map({ entries[$0] }) else {
        best = index
        continue
      }
      if (entry.steps.nonzeroBitCount, entry.steps) < (found.steps.nonzeroBitCount, found.steps) {
        best = index
      }
    }
    return best
  }
}

extension FunnelTrack: StateCoded {
  // count, each: time zigzag, steps
  func encode(to output: inout StateWriter) {
    output.number(entries.count)
    for entry in entries {
      output.signed(entry.time)
      output.number(UInt64(entry.steps))
    }
  }

  init(from input: inout StateReader) throws(StateError) {
    for _ in 0..<(try input.count(of: 2)) {
      let time = try input.signed()
      guard let steps = UInt32(exactly: try input.number()) else { throw input.damaged }
      entries.append(Entry(time: time, steps: steps))
    }
  }
}
