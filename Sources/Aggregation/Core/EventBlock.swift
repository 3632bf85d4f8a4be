internal import BusProtocol
internal import Hashing
internal import Primitives
internal import SinkState

/// Up to 64 events on their way to the reports, with what these want to know of each.
///
/// Reports take a block one after another: so each has its windows at hand for all events of it, and what
/// was looked for when an event came in has arrived in the cache when it is needed.
struct EventBlock: Sendable {
  static let eventLimit = 64
  static let byteLimit = 256 << 10

  /// One event as it was decided about.
  struct Event: Sendable {
    /// In the block's bytes.
    var payload: Range<Int>
    /// The number of its name.
    var name: Int
    /// Event time: nanoseconds since 1970, and the whole seconds of it.
    var time: Int64 = 0
    var second: Int64 = 0
    /// Before this event.
    var watermark: Int64 = .min
    /// The user's hash; nil when it names nobody, or when no report asked.
    var user: UInt64?
  }

  /// What is needed to decide about an event.
  struct Arrival: Sendable {
    var fields: EventFields
    var identity: Hash128?
    var position: Position
    /// Journal time, nanoseconds since 1970.
    var received: Int64
  }

  /// A group of one breakdown.
  struct Group: Sendable, BitwiseCopyable {
    /// In the block's keys; empty only where nothing tells groups apart.
    var start: UInt32 = 0
    var end: UInt32 = 0
    /// Its number, by which windows find it at once; below 0 where it has none.
    var number = Self.unnumbered

    static let unnumbered: Int32 = -1
    /// A value is too long for a key.
    static let tooLong: Int32 = -2
  }

  /// An event's name, and the same as the key of a group.
  struct Name: Sendable {
    var bytes: [UInt8]
    var key: [UInt8]
  }

  let table: SourceTable
  private(set) var names: [Name]
  private(set) var bytes: [UInt8] = []
  var events: [Event] = []
  private(set) var arrivals: [Arrival] = []
  private var values: [Range<Int>]
  private var hashes: [UInt64?]
  private var groups: [Group]
  private(set) var keys: [UInt8] = []
  private var numbering: GroupNumbering

  init(_ table: SourceTable, names: [Name] = []) {
    self.table = table
    self.names = names
    let limit = Self.eventLimit
    values = Array(repeating: FieldTable.absent, count: limit * table.fields.paths.count)
    hashes = Array(repeating: nil, count: limit * table.hashed.count)
    groups = Array(repeating: Group(), count: limit * table.breakdowns.count)
    numbering = GroupNumbering(breakdowns: table.breakdowns.count)
  }

  var isFull: Bool { events.count >= Self.eventLimit || bytes.count >= Self.byteLimit }

  mutating func add(name: [UInt8]) {
    names.append(Name(bytes: name, key: ValueKey.text(name)))
  }

  mutating func add(_ payload: RawSpan, name: Int, _ arrival: Arrival) {
    let start = bytes.count
    bytes.append(payload)
    events.append(Event(payload: start..<bytes.count, name: name))
    arrivals.append(arrival)
  }

  mutating func removeAll() {
    bytes.removeAll(keepingCapacity: true)
    events.removeAll(keepingCapacity: true)
    arrivals.removeAll(keepingCapacity: true)
    keys.removeAll(keepingCapacity: true)
  }
}

// What reports ask for.
extension EventBlock {
  func value(_ field: Int, of event: Int) -> Range<Int> {
    values[event * table.fields.paths.count + field]
  }

  /// The JSON number at a field; nil for anything else.
  func number(
    _ field: Int, of event: Int
  ) throws(MessagePackError) -> NumberSummary.Number? {
    let payload = unsafe bytes.span.bytes.extracting(events[event].payload)
    return try FieldValue.number(payload, value(field, of: event))
  }

  func hash(_ number: Int, of event: Int) -> UInt64? { hashes[event * table.hashed.count + number] }

  func group(_ breakdown: Int, of event: Int) -> Group {
    groups[event * table.breakdowns.count + breakdown]
  }

  /// The key of a group: its values in MessagePack, one after another.
  func key(of group: Group) -> Range<Int> { Int(group.start)..<Int(group.end) }
}

// Finding it.
extension EventBlock {
  /// What the reports of one name want.
  struct Needs: Sendable {
    var user = false
    var fields = false
    var hashes: [Int] = []
    var breakdowns: [Int] = []

    mutating func add(_ plan: ReportPlan) {
      user = user || plan.needsUser
      fields = fields || plan.needsFields
      hashes += plan.hashes.filter { !hashes.contains($0) }
      breakdowns += plan.breakdowns.filter { !breakdowns.contains($0) }
    }
  }

  /// - Parameter payload: the event's.
  mutating func find(
    _ needs: Needs, of event: Int, in payload: RawSpan, by hasher: ValueHasher
  ) throws(MessagePackError) {
    if needs.fields {
      try table.fields.read(payload, into: &values, at: event * table.fields.paths.count)
    }
    for number in needs.hashes {
      let hash = try hasher.hash(table.hashed[number], of: event, in: payload, of: self)
      hashes[event * table.hashed.count + number] = hash
    }
    for number in needs.breakdowns {
      groups[event * table.breakdowns.count + number] = try makeGroup(
        number, of: event, in: payload)
    }
  }

  private mutating func makeGroup(
    _ breakdown: Int, of event: Int, in payload: RawSpan
  ) throws(MessagePackError) -> Group {
    let start = keys.count
    let sources = table.breakdowns[breakdown]
    for source in sources {
      guard try append(source, of: event, in: payload) else {
        return Group(number: Group.tooLong)
      }
    }
    var group = Group(start: UInt32(start), end: UInt32(keys.count))
    if sources.count == 1, case .event = sources[0] {
      group.number = Int32(events[event].name)
    } else {
      let keys = keys
      group.number = unsafe numbering.number(
        of: keys.span.bytes.extracting(start..<keys.count), breakdown)
    }
    return group
  }

  /// Appends a value to the keys; false when it is too long to be one.
  private mutating func append(
    _ source: SourceTable.Source, of event: Int, in payload: RawSpan
  ) throws(MessagePackError) -> Bool {
    switch source {
    case .event: keys += names[events[event].name].key
    case .user: keys += ValueKey.user(events[event].user)
    case .field(let field):
      return try ValueKey.append(payload, value(field, of: event), to: &keys)
    case .bucket(let field, let rule):
      keys += try label(field, rule, of: event, in: payload)
    }
    return true
  }

  /// The label of a number's bucket, as a key; null for what is no number.
  func label(
    _ field: Int, _ rule: Int, of event: Int, in payload: RawSpan
  ) throws(MessagePackError) -> [UInt8] {
    guard let number = try FieldValue.number(payload, value(field, of: event)) else {
      return ValueKey.null
    }
    let bucket = table.buckets[rule]
    return bucket.keys[bucket.rule.index(of: number.asDouble)]
  }
}

/// Gives the groups of each breakdown small numbers, so that windows need not compare their keys.
///
/// Bounded: 16,384 groups of a breakdown, 8 MiB of all. Those beyond are found by their keys.
struct GroupNumbering: Sendable {
  static let groupLimit = 16_384
  static let byteLimit = 8 << 20
  /// A longer key is not kept here.
  static let keyLimit = 128

  private var known: [ByteInterner]
  private var bytes = 0

  init(breakdowns: Int) { known = (0..<breakdowns).map { _ in ByteInterner() } }

  mutating func number(of key: RawSpan, _ breakdown: Int) -> Int32 {
    if let found = known[breakdown].find(key) { return Int32(found) }
    guard known[breakdown].count < Self.groupLimit, key.byteCount <= Self.keyLimit,
      bytes < Self.byteLimit
    else { return EventBlock.Group.unnumbered }
    bytes += key.byteCount + 32
    return Int32(known[breakdown].intern(key))
  }
}
