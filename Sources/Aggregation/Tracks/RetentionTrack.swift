/// In which windows one user was there, for a report of who comes back.
///
/// A user belongs to the first window with the first event, whatever came first. At most 512 windows; the
/// latest ones that do not fit are left out, since a user's beginning must stay known.
struct RetentionTrack: Sendable, Equatable {
  static let limit = 512
  static let first: UInt8 = 1
  static let back: UInt8 = 2

  struct Entry: Sendable, Equatable {
    /// The window's first second.
    var window: Int64
    var kinds: UInt8
  }

  private(set) var entries: [Entry] = []

  /// Returns how many windows were given up for it.
  mutating func insert(_ window: Int64, _ kinds: UInt8) -> Int {
    let at = entries.firstIndex { $0.window >= window } ?? entries.count
    if at < entries.count, entries[at].window == window {
      entries[at].kinds |= kinds
      return 0
    }
    entries.insert(Entry(window: window, kinds: kinds), at: at)
    guard entries.count > Self.limit else { return 0 }
    entries.removeLast()
    return 1
  }

  /// The window the user belongs to, and the periods after it in which the user was back: 0 is the
  /// window itself, which counts the user. Nil while the first event was not seen.
  func cohort(periods: Int, rule: WindowRule) -> (window: Int64, back: [Int])? {
    guard let begin = entries.first(where: { $0.kinds & Self.first != 0 }) else { return nil }
    var back = [0]
    var window = rule.window(at: begin.window)
    var next = entries.firstIndex { $0.window > begin.window } ?? entries.count
    for period in 1...max(1, periods) where next < entries.count && window.upperBound < .max {
      window = rule.window(at: window.upperBound)
      while next < entries.count, entries[next].window < window.lowerBound { next += 1 }
      guard next < entries.count, entries[next].window == window.lowerBound else { continue }
      if entries[next].kinds & Self.back != 0 { back.append(period) }
    }
    return (begin.window, back)
  }
}

extension RetentionTrack: StateCoded {
  // count, each: window zigzag, kinds u8
  func encode(to output: inout StateWriter) {
    output.number(entries.count)
    for entry in entries {
      output.signed(entry.window)
      output.byte(entry.kinds)
    }
  }

  init(from input: inout StateReader) throws(StateError) {
    for _ in 0..<(try input.count(of: 2)) {
      entries.append(Entry(window: try input.signed(), kinds: try input.byte()))
    }
  }
}
