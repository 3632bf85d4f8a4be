internal import EventCodec
internal import Primitives

/// What the core knows of an event once, for all reports.
struct EventView: ~Escapable {
  let payload: RawSpan
  /// The number of the event's name among the core's.
  let name: Int
  let nameBytes: [UInt8]
  /// The name as the key of a group.
  let nameKey: [UInt8]
  /// Nanoseconds since 1970.
  let time: Int64
  let watermark: Int64
  /// The user's hash; nil when the event names nobody, or when no report asked.
  let user: UInt64?
  /// By field number; see `FieldTable`.
  let values: [Range<Int>]

  @_lifetime(copy payload)
  init(
    payload: RawSpan, name: Int, nameBytes: [UInt8], nameKey: [UInt8], time: Int64,
    watermark: Int64, user: UInt64?, values: [Range<Int>]
  ) {
    self.payload = payload
    self.name = name
    self.nameBytes = nameBytes
    self.nameKey = nameKey
    self.time = time
    self.watermark = watermark
    self.user = user
    self.values = values
  }

  var second: Int64 { ReportPlan.seconds(time) }
}

/// Where a core finds windows and users that it does not have in memory: the aggregator's tables.
protocol StateSource: AnyObject {
  func window(report: Int64, start: Int64) throws(AggregatorError) -> [UInt8]?
  func track(report: Int64, user: UInt64) throws(AggregatorError) -> [UInt8]?
}

/// One report at work: its windows and users, as many as are in memory.
///
/// A class, since it is changed in place; it belongs to the core that made it, which one thread uses.
final class ReportRun {
  let id: Int64
  let plan: ReportPlan
  /// Of the plan, at hand for each event.
  private let feeds: [ReportPlan.Feed]
  private let by: [ReportPlan.Source]
  private let limit: Int
  private let isMeasures: Bool
  private(set) var windows: [Int64: WindowState] = [:]
  private var current: WindowState?
  private var currentCloses = Int64.max
  var funnels = TrackCache<FunnelTrack>()
  var retentions = TrackCache<RetentionTrack>()
  var sessions = TrackCache<SessionTrack>()
  var counters = ReportCounters()
  private var key: [UInt8] = []
  /// Persons to be taken out of what is read from the tables until the next commit.
  private var erased = HashTable64()

  init(id: Int64, plan: ReportPlan, counters: ReportCounters = ReportCounters()) {
    self.id = id
    self.plan = plan
    limit = plan.definition.limit
    if case .measures(let feeds, let by) = plan.kind {
      (self.feeds, self.by, isMeasures) = (feeds, by, true)
    } else {
      (feeds, by, isMeasures) = ([], [], false)
    }
    self.counters = counters
  }

  /// Goes on with another plan of the same report.
  convenience init(_ plan: ReportPlan, taking old: ReportRun) {
    self.init(id: old.id, plan: plan, counters: old.counters)
    windows = old.windows
    funnels = old.funnels
    retentions = old.retentions
    sessions = old.sessions
    erased = old.erased
  }

  /// Takes an event whose name matches.
  func apply<S: StateSource>(
    _ event: borrowing EventView, _ hasher: ValueHasher, from source: S
  ) throws(AggregatorError) {
    for condition in plan.conditions where !condition.matches(event.payload) { return }
    guard let window = try openWindow(at: event.second, event.watermark, from: source) else {
      counters.late += 1
      counters.isChanged = true
      return
    }
    counters.matched += 1
    if event.user == nil, plan.needsUser { counters.withoutUser += 1 }
    counters.isChanged = true
    guard !isMeasures else {
      do throws(MessagePackError) {
        try count(event, in: window, hasher)
      } catch { counters.unreadable += 1 }
      return
    }
    guard let user = event.user else { return }
    try follow(user, event, in: window, from: source)
  }

  /// The window around a second; nil when it takes no more events.
  @inline(__always)
  private func openWindow<S: StateSource>(
    at second: Int64, _ watermark: Int64, from source: S
  ) throws(AggregatorError) -> WindowState? {
    if let current, current.range.contains(second) {
      return watermark >= currentCloses ? nil : current
    }
    let range = plan.rule.window(at: second)
    let closes = plan.closing(range)
    guard watermark < closes else { return nil }
    let window = try self.window(range, from: source)
    (current, currentCloses) = (window, closes)
    return window
  }

  func window<S: StateSource>(
    _ range: Range<Int64>, from source: S
  ) throws(AggregatorError) -> WindowState {
    if let known = windows[range.lowerBound] { return known }
    let window: WindowState
    if let bytes = try source.window(report: id, start: range.lowerBound) {
      do throws(StateError) {
        window = try WindowState(range, plan.shape, from: bytes)
      } catch {
        throw .damaged(report: plan.definition.name, error)
      }
    } else {
      window = WindowState(range, plan.shape)
    }
    if erased.count > 0 { window.erase(erased, plan.userSets) }
    windows[range.lowerBound] = window
    return window
  }

  private func count(
    _ event: borrowing EventView, in window: WindowState, _ hasher: ValueHasher
  ) throws(MessagePackError) {
    window.takeEvent(limit: limit)
    guard let index = try cell(event, in: window) else {
      return try feed(&window.otherCell, event, hasher)
    }
    if feeds.isEmpty {
      window.cells[index].count += 1
    } else {
      try feed(&window.cells[index], event, hasher)
    }
  }

  /// The event's group; nil for one that has a value too long to be told apart by.
  @inline(__always)
  private func cell(
    _ event: borrowing EventView, in window: WindowState
  ) throws(MessagePackError) -> Int? {
    if plan.isByEventAlone {
      return window.cell(ofName: event.name, event.nameKey, limit: limit)
    }
    key.removeAll(keepingCapacity: true)
    for source in by {
      guard try ValueHasher.append(source, event, plan.buckets, to: &key) else { return nil }
    }
    return window.cell(key, limit: limit)
  }

  private func feed(
    _ cell: inout Cell, _ event: borrowing EventView, _ hasher: ValueHasher
  ) throws(MessagePackError) {
    cell.count += 1
    for feed in feeds {
      switch feed {
      case .set(let place, let source, let limit):
        if let hash = try hasher.hash(source, event, plan.buckets) {
          cell.sets[place].insert(hash, exactly: limit)
        }
      case .number(let place, let field):
        if let number = try FieldValue.number(event.payload, event.values[field]) {
          cell.numbers[place].insert(number)
        } else {
          cell.numbers[place].leaveOut()
        }
      case .sketch(let place, let field):
        if let number = try FieldValue.number(event.payload, event.values[field]) {
          cell.sketches[place].insert(number.asDouble)
        }
      case .top(let place, let source, let limit):
        var key: [UInt8] = []
        if try ValueHasher.append(source, event, plan.buckets, to: &key) {
          unsafe cell.tops[place].insert(key.span.bytes, limit: limit)
        } else {
          cell.tops[place].insertOther()
        }
      case .histogram(let place, let field, let rule):
        if let number = try FieldValue.number(event.payload, event.values[field]) {
          let rule = plan.buckets[rule].rule
          cell.histograms[place].insert(label: rule.index(of: number.asDouble))
        } else {
          cell.histograms[place].leaveOut()
        }
      }
    }
  }

  /// Takes a person out of all that is in memory, and of what is read until the next commit.
  func erase(_ person: UInt64) {
    guard plan.needsUser else { return }
    _ = erased.insert(person)
    var one = HashTable64()
    _ = one.insert(person)
    for window in windows.values { window.erase(one, plan.userSets) }
    funnels.remove(person)
    retentions.remove(person)
    sessions.remove(person)
  }

  func isLoaded(_ start: Int64) -> Bool { windows[start] != nil }
  func isErased(_ person: UInt64) -> Bool { erased.contains(person) }

  /// Everything is stored: keeps the latest windows, as far as `left` bytes reach.
  func markSaved(_ watermark: Int64, keepingBytes left: inout Int) {
    erased = HashTable64()
    counters.isChanged = false
    for (start, window) in windows.sorted(by: { $0.key > $1.key }) {
      window.isChanged = false
      left -= window.byteCount
      // An open window is nearly always used again at once; the others are read back if need be.
      let isOpen = watermark < ReportPlan.nanoseconds(window.range.upperBound)
      if left < 0 || (!isOpen && windows.count > 64) { windows[start] = nil }
    }
    if let window = current, windows[window.range.lowerBound] == nil { current = nil }
    funnels.markSaved(keeping: Self.tracksKept)
    retentions.markSaved(keeping: Self.tracksKept)
    sessions.markSaved(keeping: Self.tracksKept)
  }

  private static let tracksKept = 100_000

  /// What commits must write.
  var changedWindows: [WindowState] { windows.values.filter(\.isChanged) }
  var changedTracks: [(user: UInt64, bytes: [UInt8])] {
    funnels.encodedChanges() + retentions.encodedChanges() + sessions.encodedChanges()
  }
  var trackCount: Int { funnels.count + retentions.count + sessions.count }
  var windowBytes: Int { windows.values.reduce(0) { $0 + $1.byteCount } }
}

/// What a report counts beside its windows.
struct ReportCounters: Sendable, Equatable {
  /// Events that took effect.
  var matched: UInt64 = 0
  /// Events that came after their window had closed.
  var late: UInt64 = 0
  /// Of a report of users: events that name nobody.
  var withoutUser: UInt64 = 0
  /// Events with a value that cannot be read.
  var unreadable: UInt64 = 0
  /// What was given up of users with more than is kept of one.
  var trimmed: UInt64 = 0
  var isChanged = false
}
