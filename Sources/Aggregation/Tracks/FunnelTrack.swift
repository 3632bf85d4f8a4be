/// One user's steps in a funnel.
///
/// The steps are kept with their times, in order of time, so the answer is the same in whatever order
/// they came. At most 256; the oldest go first, and are counted.
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
  mutating func insert(_ entry: Entry) -> Int {
    var trimmed = 0
    if entries.count >= Self.limit {
      trimmed = entries.count - Self.limit + 1
      entries.removeFirst(trimmed)
    }
    let at = entries.firstIndex { $0.time > entry.time } ?? entries.count
    entries.insert(entry, at: at)
    return trimmed
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
      let depth = depth(from: index, steps: steps, within: within)
      depths[start] = max(depths[start] ?? 0, depth)
    }
    return depths
  }

  /// The earliest event for each next step is as good as any. One event is one step; of several at the
  /// same moment the one that can be the fewest steps is taken, so that the others are left for theirs.
  private func depth(from first: Int, steps: Int, within: Int64) -> Int {
    let (end, isBeyond) = entries[first].time.addingReportingOverflow(within)
    let latest = isBeyond ? Int64.max : end
    var used = [first]
    var at = first
    var step = 1
    while step < steps {
      guard let next = next(step, after: at, until: latest, besides: used) else { break }
      used.append(next)
      at = next
      step += 1
    }
    return step
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
