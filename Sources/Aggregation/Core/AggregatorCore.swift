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
  private var fields = FieldTable()
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
  private var values: [Range<Int>] = []
  private var part = -1
  private var partNames: [Int] = []

  /// What events of one name concern.
  private struct NamePlan {
    var name: [UInt8]
    var key: [UInt8]
    var reports: [Int] = []
    var needsUser = false
    var needsFields = false
    var joins = false
    var isForget = false
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
    var fields = FieldTable()
    let known = Dictionary(uniqueKeysWithValues: reports.map { ($0.id, $0) })
    reports = definitions.map { stored in
      // A plan holds numbers of fields, which change with the reports around it.
      let plan = ReportPlan(stored.definition, &fields)
      if let old = known[stored.id] { return ReportRun(plan, taking: old) }
      return ReportRun(id: stored.id, plan: plan, counters: stored.counters)
    }
    self.fields = fields
    plans = plans.map { plan(for: $0.name) }
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
      try apply(
        payload, name: partNames[place.name], nameBytes: name,
        EventPlace(
          position: place.position, time: place.time, isAddressed: place.isAddressed),
        from: source)
    }
  }

  /// Where and when the journal took an event.
  struct EventPlace {
    var position: Position
    var time: Int64
    var isAddressed = false
  }

  /// Takes one event, as an archive has it. `advance` moves the cursor behind it.
  mutating func apply<S: StateSource>(
    _ payload: RawSpan, name: RawSpan, at place: EventPlace, from source: S
  ) throws(AggregatorError) {
    try apply(payload, name: number(of: name), nameBytes: name, place, from: source)
    isChanged = true
  }

  private mutating func apply<S: StateSource>(
    _ payload: RawSpan, name: Int, nameBytes: RawSpan, _ place: EventPlace, from source: S
  ) throws(AggregatorError) {
    let before = watermark
    guard let found = decide(payload, name, nameBytes, place) else { return }
    let event = EventView(
      payload: payload, name: name, nameBytes: plans[name].name, nameKey: plans[name].key,
      time: found.time, watermark: before, user: found.user, values: values)
    for index in plans[name].reports {
      try reports[index].apply(event, hasher, from: source)
    }
  }

  /// What an event is to the reports; nil for one that none gets. Each is counted in the ledger once.
  private mutating func decide(
    _ payload: RawSpan, _ name: Int, _ nameBytes: RawSpan, _ place: EventPlace
  ) -> (time: Int64, user: UInt64?)? {
    do throws(MessagePackError) {
      if plans[name].isForget {
        try forget(payload, place)
        return nil
      }
      let fields = try EventFields(reading: payload)
      let isForgotten = try forgotten.leavesOut(
        fields, of: payload, at: place.position, isAddressed: place.isAddressed)
      if isForgotten {
        progress.ledger.forgotten += 1
        return nil
      }
      let verdict = doubles.check(fields, of: payload, name: nameBytes, at: place.position)
      guard verdict == .new else {
        progress.ledger.duplicate += 1
        return nil
      }
      if plans[name].joins { try join(fields, payload) }
      let user = plans[name].needsUser ? try user(fields, payload) : nil
      if plans[name].needsFields { try self.fields.read(payload, into: &values) }
      progress.ledger.applied += 1
      live.counts[name] &+= 1
      let time = fields.timestamp == 0 ? place.time : fields.timestamp
      highest = max(highest, time)
      watermark = max(watermark, min(highest, place.time))
      return (time, user)
    } catch {
      // The broker checks events; what does not read all the same is counted and passed by.
      progress.ledger.refused += 1
      return nil
    }
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
    if let range = try PayloadReader(payload).range(of: "previousId"),
      let previous = try PersonHash.hash(range, in: payload, by: key)?.high
    {
      people.join(previous, to: user)
    }
  }

  private mutating func number(of name: RawSpan) -> Int {
    let number = names.intern(name)
    if number == plans.count {
      plans.append(plan(for: name.copied()))
      live.add(plans[number].name)
    }
    return number
  }

  private func plan(for name: [UInt8]) -> NamePlan {
    var plan = NamePlan(name: name, key: ValueKey.text(name))
    plan.isForget = name == EventName.forget
    plan.joins = Self.joiningNames.contains(name)
    for (index, report) in reports.enumerated() where report.plan.matches(name) {
      plan.reports.append(index)
      plan.needsUser = plan.needsUser || report.plan.needsUser
      plan.needsFields = plan.needsFields || report.plan.needsFields
    }
    return plan
  }

  private static let joiningNames = [Array("$identify".utf8), Array("$alias".utf8)]
}

// Forgetting a person: exact sets and tracks lose them; what estimates cannot.
extension AggregatorCore {
  private mutating func forget(
    _ payload: RawSpan, _ place: EventPlace
  ) throws(MessagePackError) {
    let persons = try forgotten.forget(payload, at: place.position, time: place.time)
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
