internal import EventCodec
internal import Primitives

/// An event as a report of users follows it.
struct EventView: ~Escapable {
  let payload: RawSpan
  let name: [UInt8]
  /// Nanoseconds since 1970.
  let time: Int64
  let watermark: Int64

  @_lifetime(copy payload)
  init(_ event: EventBlock.Event, payload: RawSpan, name: [UInt8]) {
    self.payload = payload
    self.name = name
    time = event.time
    watermark = event.watermark
  }
}

/// Where a core finds windows and users that it does not have in memory: the aggregator's tables.
protocol StateSource: AnyObject {
  func window(report: Int64, start: Int64) throws(AggregatorError) -> [UInt8]?
  func track(report: Int64, user: UInt64) throws(AggregatorError) -> [UInt8]?
}

/// A window in memory: a class, so that a report keeps the one it works on at hand.
final class OpenWindow {
  var state: WindowState

  init(_ state: WindowState) { self.state = state }
}

/// One report at work: its windows and users, as many as are in memory.
///
/// A class, since it is changed in place; it belongs to the core that made it, which one thread uses.
final class ReportRun {
  let id: Int64
  let plan: ReportPlan
  /// Of the plan, at hand for each event.
  private let feeds: [ReportPlan.Feed]
  private let breakdown: Int
  private let limit: Int
  private let isMeasures: Bool
  private let hasConditions: Bool
  private(set) var windows: [Int64: OpenWindow] = [:]
  private var current: OpenWindow?
  private var currentCloses = Int64.max
  var funnels = TrackCache<FunnelTrack>()
  var retentions = TrackCache<RetentionTrack>()
  var sessions = TrackCache<SessionTrack>()
  var counters = ReportCounters()
  /// Persons to be taken out of what is read from the tables until the next commit.
  private var erased = HashTable64()

  init(id: Int64, plan: ReportPlan, counters: ReportCounters = ReportCounters()) {
    self.id = id
    self.plan = plan
    limit = plan.definition.limit
    hasConditions = !plan.conditions.isEmpty
    if case .measures(let feeds, let breakdown) = plan.kind {
      (self.feeds, self.breakdown, isMeasures) = (feeds, breakdown, true)
    } else {
      (feeds, breakdown, isMeasures) = ([], 0, false)
    }
    self.counters = counters
  }

  /// Goes on with another plan of the same report.
  convenience init(_ plan: ReportPlan, taking old: ReportRun) {
    self.init(id: old.id, plan: plan, counters: old.counters)
    windows = old.windows
    // Groups have other numbers now.
    for window in windows.values { window.state.forgetNumbers() }
    funnels = old.funnels
    retentions = old.retentions
    sessions = old.sessions
    erased = old.erased
  }

  /// Takes those events of a block whose names match.
  func apply<S: StateSource>(
    _ matching: [Int], of block: EventBlock, from source: S
  ) throws(AggregatorError) {
    let events = hasConditions ? matching.filter { conditionsHold(block, $0) } : matching
    counters.isChanged = true
    var at = 0
    while at < events.count {
      let first = block.events[events[at]]
      guard let window = try openWindow(at: first.second, first.watermark, from: source) else {
        counters.late += 1
        at += 1
        continue
      }
      let end = endOfRun(events, from: at, of: block, in: window.state.range)
      counters.matched += UInt64(end - at)
      if plan.needsUser {
        for event in events[at..<end] where block.events[event].user == nil {
          counters.withoutUser += 1
        }
      }
      if isMeasures {
        count(events[at..<end], of: block, in: &window.state)
      } else {
        window.state.countEvents(end - at)
        for event in events[at..<end] { try follow(event, of: block, in: window, from: source) }
      }
      at = end
    }
  }

  private func conditionsHold(_ block: EventBlock, _ event: Int) -> Bool {
    let payload = unsafe block.bytes.span.bytes.extracting(block.events[event].payload)
    for condition in plan.conditions where !condition.matches(payload) { return false }
    return true
  }

  /// Behind the events that the window of the first one takes too.
  private func endOfRun(
    _ events: [Int], from first: Int, of block: EventBlock, in range: Range<Int64>
  ) -> Int {
    var end = first + 1
    while end < events.count {
      let event = block.events[events[end]]
      guard range.contains(event.second), event.watermark < currentCloses else { break }
      end += 1
    }
    return end
  }

  /// The window around a second; nil when it takes no more events.
  @inline(__always)
  private func openWindow<S: StateSource>(
    at second: Int64, _ watermark: Int64, from source: S
  ) throws(AggregatorError) -> OpenWindow? {
    if let current, current.state.range.contains(second) {
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
  ) throws(AggregatorError) -> OpenWindow {
    if let known = windows[range.lowerBound] { return known }
    var state: WindowState
    if let bytes = try source.window(report: id, start: range.lowerBound) {
      do throws(StateError) {
        state = try WindowState(range, plan.shape, from: bytes)
      } catch {
        throw .damaged(report: plan.definition.name, error)
      }
    } else {
      state = WindowState(range, plan.shape)
    }
    if erased.count > 0 { state.erase(erased, plan.userSets) }
    let window = OpenWindow(state)
    windows[range.lowerBound] = window
    return window
  }

  /// Counts events that are all of this window.
  private func count(_ events: ArraySlice<Int>, of block: EventBlock, in window: inout WindowState)
  {
    let looksAhead = !plan.shape.sets.isEmpty
    for place in events.indices {
      if looksAhead, place + Self.lookahead < events.endIndex {
        prefetch(events[place + Self.lookahead], of: block, in: window)
      }
      do throws(MessagePackError) {
        try count(events[place], of: block, in: &window)
      } catch { counters.unreadable += 1 }
    }
  }

  /// How many events ahead what an event will touch is brought near: about 200 ns.
  private static let lookahead = 4

  /// Likely the event's group is there, and its value new to no table.
  @inline(__always)
  private func prefetch(_ event: Int, of block: EventBlock, in window: borrowing WindowState) {
    guard let cell = window.cell(ofNumber: block.group(breakdown, of: event).number) else { return }
    for feed in feeds {
      if case .set(let place, let hash, _) = feed, let hash = block.hash(hash, of: event) {
        window.cells[cell].sets[place].prefetch(hash)
      }
    }
  }

  @inline(__always)
  private func count(
    _ event: Int, of block: EventBlock, in window: inout WindowState
  ) throws(MessagePackError) {
    window.takeEvent(limit: limit)
    let group = block.group(breakdown, of: event)
    guard group.number != EventBlock.Group.tooLong else {
      return try feed(&window.otherCell, event, of: block)
    }
    let cell = window.cell(ofNumber: group.number) ?? window.cell(group, of: block, limit: limit)
    if feeds.isEmpty {
      window.cells[cell].count += 1
    } else {
      try feed(&window.cells[cell], event, of: block)
    }
  }

  private func feed(
    _ cell: inout Cell, _ event: Int, of block: EventBlock
  ) throws(MessagePackError) {
    cell.count += 1
    for feed in feeds {
      switch feed {
      case .set(let place, let hash, let limit):
        if let hash = block.hash(hash, of: event) {
          cell.sets[place].insert(hash, exactly: limit)
        }
      case .number(let place, let field):
        if let number = try block.number(field, of: event) {
          cell.numbers[place].insert(number)
        } else {
          cell.numbers[place].leaveOut()
        }
      case .sketch(let place, let field):
        if let number = try block.number(field, of: event) {
          cell.sketches[place].insert(number.asDouble)
        }
      case .top(let place, let breakdown, let limit):
        let group = block.group(breakdown, of: event)
        if group.number == EventBlock.Group.tooLong {
          cell.tops[place].insertOther()
        } else {
          let key = unsafe block.keys.span.bytes.extracting(block.key(of: group))
          cell.tops[place].insert(key, limit: limit)
        }
      case .histogram(let place, let field, let rule):
        if let number = try block.number(field, of: event) {
          let rule = block.table.buckets[rule].rule
          cell.histograms[place].insert(label: rule.index(of: number.asDouble))
        } else {
          cell.histograms[place].leaveOut()
        }
      }
    }
  }

  private func follow<S: StateSource>(
    _ index: Int, of block: EventBlock, in window: OpenWindow, from source: S
  ) throws(AggregatorError) {
    let event = block.events[index]
    guard let user = event.user else { return }
    let view = unsafe EventView(
      event, payload: block.bytes.span.bytes.extracting(event.payload),
      name: block.names[event.name].bytes)
    try follow(user, view, in: window, from: source)
  }

  /// Takes a person out of all that is in memory, and of what is read until the next commit.
  func erase(_ person: UInt64) {
    guard plan.needsUser else { return }
    _ = erased.insert(person)
    var one = HashTable64()
    _ = one.insert(person)
    for window in windows.values { window.state.erase(one, plan.userSets) }
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
      guard watermark < plan.expiry(window.state.range) else {
        windows[start] = nil
        continue
      }
      window.state.isChanged = false
      left -= window.state.byteCount
      // An open window is nearly always used again at once; the others are read back if need be.
      let isOpen = watermark < ReportPlan.nanoseconds(window.state.range.upperBound)
      if left < 0 || (!isOpen && windows.count > 64) { windows[start] = nil }
    }
    if let window = current, windows[window.state.range.lowerBound] == nil { current = nil }
    funnels.markSaved(keeping: Self.tracksKept)
    retentions.markSaved(keeping: Self.tracksKept)
    sessions.markSaved(keeping: Self.tracksKept)
  }

  private static let tracksKept = 100_000

  /// What commits must write.
  var changedWindows: [WindowState] { windows.values.map(\.state).filter(\.isChanged) }
  var changedTracks: [(user: UInt64, bytes: [UInt8])] {
    funnels.encodedChanges() + retentions.encodedChanges() + sessions.encodedChanges()
  }
  var trackCount: Int { funnels.count + retentions.count + sessions.count }
  var windowBytes: Int { windows.values.reduce(0) { $0 + $1.state.byteCount } }
}
