internal import BusClient
internal import BusProtocol
internal import EventCodec
internal import EventModel
internal import Hashing
internal import Primitives
internal import SinkState

/// Counts events: batches in, changed windows out. State and decisions only; what it does not have in
/// memory it asks a `StateSource` for.
///
/// Everything it counts depends on the order of the journal alone: not on how events were cut into
/// batches, when it was stored, or what lay in memory. One thread uses it.
struct AggregatorCore {
  private(set) var reports: [ReportRun] = []
  var progress: SinkProgress
  var doubles: Doubles
  var forgotten: ForgottenPeople
  var people: PeopleJoin
  /// The highest timestamp so far, and the smaller of it and the last receive time.
  var highest: Int64
  private(set) var watermark: Int64
  private(set) var isChanged = false
  /// Events that took effect since the start, by name.
  private(set) var live = LiveCounts()
  /// Persons to be erased from what is stored, in the transaction of the next commit.
  private(set) var erasures: [UInt64] = []

  private let hasher: ValueHasher
  private var names = ByteInterner()
  private var plans: [NamePlan] = []
  private var block = EventBlock(SourceTable())
  /// For each report, which events of the block it takes.
  private var work: [[Int]] = []
  private var part = -1
  private var partNames: [Int] = []

  /// What events of one name concern. A class, so that using it costs one count of references.
  private final class NamePlan: Sendable {
    let reports: [Int]
    let needs: EventBlock.Needs
    let joins: Bool
    let isForget: Bool

    init(_ name: [UInt8], _ runs: [ReportRun]) {
      let matching = runs.indices.filter { runs[$0].plan.matches(name) }
      reports = matching
      needs = matching.reduce(into: EventBlock.Needs()) { $0.add(runs[$1].plan) }
      joins = AggregatorCore.joiningNames.contains(name)
      isForget = name == EventName.forget
    }
  }

  init(
    progress: SinkProgress, doubles: Doubles, forgotten: ForgottenPeople,
    people: PeopleJoin = PeopleJoin(), highest: Int64 = .min, watermark: Int64 = .min
  ) {
    self.progress = progress
    self.doubles = doubles
    self.forgotten = forgotten
    self.people = people
    self.highest = highest
    self.watermark = watermark
    hasher = ValueHasher(key: forgotten.key)
  }

  /// Takes other reports. Those that go on keep what they have in memory.
  mutating func setReports(_ definitions: [StoredReport]) {
    precondition(block.events.isEmpty, "events are in the middle of being counted")
    var table = SourceTable()
    let known = Dictionary(uniqueKeysWithValues: reports.map { ($0.id, $0) })
    reports = definitions.map { stored in
      // A plan holds numbers of sources, which change with the reports around it.
      let plan = ReportPlan(stored.definition, &table)
      if let old = known[stored.id] { return ReportRun(plan, taking: old) }
      return ReportRun(id: stored.id, plan: plan, counters: stored.counters)
    }
    block = EventBlock(table, names: block.names)
    work = reports.map { _ in [] }
    plans = block.names.map { NamePlan($0.bytes, reports) }
  }

  /// Takes a batch.
  mutating func apply<S: StateSource>(
    _ batch: EventBatch, from source: S
  ) throws(AggregatorError) {
    if let gap = batch.gap { progress.jump(to: gap.to, .gap) }
    if let seek = batch.seek {
      progress.jump(to: seek.to, .seek)
      progress.seekGeneration = seek.generation
    }
    try count(batch, before: nil, from: source)
    progress.advance(to: batch.end)
  }

  /// Takes the events of a batch, those before a place if one is given, and leaves the cursor alone.
  mutating func count<S: StateSource>(
    _ batch: EventBatch, before end: Position?, from source: S
  ) throws(AggregatorError) {
    part = -1
    isChanged = true
    try batch.forEach { place, name, payload throws(AggregatorError) in
      if let end, place.position >= end { return }
      if place.part != part {
        part = place.part
        partNames.removeAll(keepingCapacity: true)
      }
      while partNames.count <= place.name { partNames.append(-1) }
      if partNames[place.name] < 0 { partNames[place.name] = number(of: name) }
      try take(
        payload, name: partNames[place.name], nameBytes: name,
        EventPlace(
          position: place.position, time: place.time, isAddressed: place.isAddressed),
        from: source)
    }
    try finish(from: source)
  }

  /// Where and when the journal took an event.
  struct EventPlace {
    var position: Position
    var time: Int64
    var isAddressed = false
  }

  /// Takes one event, as an archive has it; it is counted by `finish` at the latest. The cursor stays.
  mutating func take<S: StateSource>(
    _ payload: RawSpan, name: RawSpan, at place: EventPlace, from source: S
  ) throws(AggregatorError) {
    isChanged = true
    try take(payload, name: number(of: name), nameBytes: name, place, from: source)
  }

  private mutating func take<S: StateSource>(
    _ payload: RawSpan, name: Int, nameBytes: RawSpan, _ place: EventPlace, from source: S
  ) throws(AggregatorError) {
    if plans[name].isForget { return try forget(payload, place, from: source) }
    do throws(MessagePackError) {
      let fields = try EventFields(reading: payload)
      let isForgotten = try forgotten.leavesOut(
        fields, of: payload, at: place.position, isAddressed: place.isAddressed)
      if isForgotten {
        progress.ledger.forgotten += 1
        return
      }
      let identity = doubles.identity(fields, of: payload, name: nameBytes)
      block.add(
        payload, name: name,
        EventBlock.Arrival(
          fields: fields, identity: identity, position: place.position, received: place.time))
    } catch {
      // The broker checks events; what does not read all the same is counted and passed by.
      progress.ledger.refused += 1
    }
    if block.isFull { try finish(from: source) }
  }

  /// Counts what was taken. Before anything is stored.
  mutating func finish<S: StateSource>(from source: S) throws(AggregatorError) {
    guard !block.events.isEmpty else { return }
    let bytes = block.bytes
    for index in block.events.indices {
      let payload = unsafe bytes.span.bytes.extracting(block.events[index].payload)
      do throws(MessagePackError) {
        try decide(index, payload)
      } catch { progress.ledger.refused += 1 }
    }
    for index in reports.indices where !work[index].isEmpty {
      try reports[index].apply(work[index], of: block, from: source)
      work[index].removeAll(keepingCapacity: true)
    }
    block.removeAll()
  }

  /// What an event is to the reports. Each event is counted in the ledger once.
  private mutating func decide(_ index: Int, _ payload: RawSpan) throws(MessagePackError) {
    let arrival = block.arrivals[index]
    let name = block.events[index].name
    let plan = plans[name]
    let nameBytes = block.names[name].bytes
    let verdict = unsafe doubles.check(
      arrival.identity, arrival.fields, of: payload, name: nameBytes.span.bytes,
      at: arrival.position)
    guard verdict == .new else {
      progress.ledger.duplicate += 1
      return
    }
    if plan.joins { try join(arrival.fields, payload) }
    if plan.needs.user { block.events[index].user = try user(arrival.fields, payload) }
    let stated = arrival.fields.timestamp
    let time = stated == 0 ? arrival.received : stated
    block.events[index].time = time
    block.events[index].second = ReportPlan.seconds(time)
    block.events[index].watermark = watermark
    try block.find(plan.needs, of: index, in: payload, by: hasher)
    progress.ledger.applied += 1
    live.counts[name] &+= 1
    highest = max(highest, time)
    watermark = max(watermark, min(highest, arrival.received))
    for report in plan.reports { work[report].append(index) }
  }

  /// `userId`, else `anonymousId`; nil when the event names nobody.
  private func user(
    _ fields: EventFields, _ payload: RawSpan
  ) throws(MessagePackError) -> UInt64? {
    let key = forgotten.key
    if let user = try PersonHash.hash(fields.userId, in: payload, by: key) { return user.high }
    return try PersonHash.hash(fields.anonymousId, in: payload, by: key)?.high
  }

  private mutating func join(
    _ fields: EventFields, _ payload: RawSpan
  ) throws(MessagePackError) {
    let key = forgotten.key
    guard let user = try PersonHash.hash(fields.userId, in: payload, by: key)?.high else { return }
    if let device = try PersonHash.hash(fields.anonymousId, in: payload, by: key)?.high {
      people.join(device, to: user)
    }
    if let previous = try PersonHash.hash(fields.previousId, in: payload, by: key)?.high {
      people.join(previous, to: user)
    }
  }

  private mutating func number(of name: RawSpan) -> Int {
    let number = names.intern(name)
    if number == plans.count {
      block.add(name: name.copied())
      plans.append(NamePlan(block.names[number].bytes, reports))
      live.add(block.names[number].bytes)
    }
    return number
  }

  fileprivate static let joiningNames = [Array("$identify".utf8), Array("$alias".utf8)]
}

// Forgetting a person: exact sets and tracks lose them; what estimates cannot.
extension AggregatorCore {
  private mutating func forget<S: StateSource>(
    _ payload: RawSpan, _ place: EventPlace, from source: S
  ) throws(AggregatorError) {
    // What lies before it is counted first, so that nothing of it comes back.
    try finish(from: source)
    let persons: [Hash128]
    do throws(MessagePackError) {
      persons = try forgotten.forget(payload, at: place.position, time: place.time)
    } catch {
      progress.ledger.refused += 1
      return
    }
    progress.ledger.applied += 1
    for person in persons {
      erasures.append(person.high)
      people.erase(person.high)
      for report in reports { report.erase(person.high) }
    }
  }
}

extension AggregatorCore {
  /// What windows and users take in memory, about.
  var memoryBytes: Int { reports.reduce(0) { $0 + $1.windowBytes + $1.trackCount * 200 } }
}

// What is stored, and what then is let go.
extension AggregatorCore {
  /// Everything is stored: forgets what is closed, and the windows used least recently while they take
  /// more than `bytes`.
  mutating func markSaved(keepingBytes bytes: Int) {
    doubles.markSaved()
    forgotten.markSaved()
    people.markSaved()
    erasures.removeAll()
    isChanged = false
    var left = bytes
    for report in reports { report.markSaved(watermark, keepingBytes: &left) }
  }
}
