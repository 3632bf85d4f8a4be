/// Events a second by name, from counts that only rise. State and decisions only: it is told the counts
/// and the time about once a second.
public struct LiveRates: Sendable {
  /// Seconds over which a rate is taken, and of which there is a history.
  public static let span = 5
  public static let historySeconds = 120

  /// One moment's counts.
  private struct Moment {
    var time: Int64
    var counts: [UInt64]
    var total: UInt64
  }

  private var moments: [Moment] = []
  /// Events of each of the last seconds, all names together, the newest last.
  public private(set) var history: [Double] = []

  public init() {}

  /// - Parameters:
  ///   - counts: of each name since one and the same moment; names are added at the end only.
  ///   - now: nanoseconds of a clock that never goes back.
  public mutating func take(_ counts: [UInt64], at now: Int64) {
    let total = counts.reduce(0, &+)
    if let last = moments.last {
      guard now > last.time else { return }
      history.append(Double(total &- last.total) * 1e9 / Double(now - last.time))
      history.removeFirst(max(0, history.count - Self.historySeconds))
    }
    moments.append(Moment(time: now, counts: counts, total: total))
    moments.removeFirst(max(0, moments.count - Self.span - 1))
  }

  /// All names together.
  public var total: Double {
    guard let first = moments.first, let last = moments.last, last.time > first.time else {
      return 0
    }
    return Double(last.total &- first.total) * 1e9 / Double(last.time - first.time)
  }

  /// Events counted since the start.
  public var events: UInt64 { moments.last?.total ?? 0 }
  public var nameCount: Int { moments.last?.counts.count ?? 0 }

  public func events(of name: Int) -> UInt64 { moments.last.map { $0.counts[name] } ?? 0 }

  public func rate(of name: Int) -> Double {
    guard let first = moments.first, let last = moments.last, last.time > first.time else {
      return 0
    }
    return Double(increase(name, first, last)) * 1e9 / Double(last.time - first.time)
  }

  private func increase(_ name: Int, _ first: Moment, _ last: Moment) -> UInt64 {
    last.counts[name] &- (name < first.counts.count ? first.counts[name] : 0)
  }

  /// The numbers of the names with the highest rates, of equal ones those with more events, then those
  /// that came first. Costs one pass over all names.
  public func top(_ limit: Int, where isWanted: (Int) -> Bool = { _ in true }) -> [Int] {
    guard let first = moments.first, let last = moments.last, limit > 0 else { return [] }
    var top: [(increase: UInt64, events: UInt64, name: Int)] = []
    for name in last.counts.indices where isWanted(name) {
      let entry = (increase(name, first, last), last.counts[name], name)
      if top.count == limit, let least = top.last, !Self.isBefore(entry, least) { continue }
      let place = top.firstIndex { Self.isBefore(entry, $0) } ?? top.count
      top.insert(entry, at: place)
      if top.count > limit { top.removeLast() }
    }
    return top.map(\.name)
  }

  private static func isBefore(
    _ a: (increase: UInt64, events: UInt64, name: Int),
    _ b: (increase: UInt64, events: UInt64, name: Int)
  ) -> Bool {
    if a.increase != b.increase { return a.increase > b.increase }
    return a.events != b.events ? a.events > b.events : a.name < b.name
  }
}
