// Events as sinks and programs read them, and what a sink remembers of them.
//
//   sink-event  [payload]: its fields lie inside it, and are the same where its JSON noted them
//   doubles     [first u8][latest u8][repeats u8][length u8][entries]...: what a sink remembers is refused
//               as damage, or takes room by what is there; it finds doubles, and is stored and read again
//   typed       [payload]: what decodes as an event of a program is encoded as what decodes the same
//   planned     [name, to the first U+0000][payload]: a plan that is made of events finds them right
//   probe       [payload]: an event of `bench` is one of this run, or it is not taken
internal import BusProtocol
internal import Database
internal import EventCodec
internal import EventModel
internal import Hashing
internal import LoadTest
internal import Primitives
internal import SinkState
internal import Synchronization
internal import TrackingPlan

let sinkEventTargets = [
  FuzzTarget("sink-event", seeds: payloads.map { $0.parted(at: 0).rest }, run: readFields),
  FuzzTarget("doubles", seeds: remembered, isSlow: true, run: remember),
  FuzzTarget("typed", seeds: typedSeeds, run: decodeTyped),
  FuzzTarget("planned", seeds: payloads, run: plan),
  FuzzTarget("probe", seeds: probes, run: readProbe),
]

private let key = KeyedHash(key: [UInt8](repeating: 1, count: KeyedHash.keyBytes))

private func readFields(_ payload: [UInt8]) throws(Violation) {
  let read = answer { () throws(MessagePackError) in
    try EventFields(reading: unsafe payload.span.bytes)
  }
  guard case .success(let fields) = read else { return }
  let people = fields.people
  for range in [fields.messageId] + people.indices.map({ people[$0] }) {
    try require(range.upperBound <= payload.count, "\(range) of \(payload.count)")
  }
  for index in people.indices {
    _ = answer { () throws(MessagePackError) in
      try PersonHash.hash(people[index], in: unsafe payload.span.bytes, by: key)
    }
  }
  var places = FieldPlaces()
  var json: [UInt8] = []
  let noted = answer { () throws(CodecError) in
    try CanonicalJSON.append(
      unsafe payload.span.bytes, CanonicalJSON.Additions(), to: &json, noting: &places)
  }
  guard case .success = noted else { return }
  let same = try accepted("its fields by their places") { () throws(MessagePackError) in
    try EventFields(places, of: unsafe payload.span.bytes)
  }
  try require(same == fields, "\(fields) by their places \(same)")
}

// Doubles

private func row(_ first: UInt8, _ repeats: UInt8, _ entries: [UInt8]) -> [UInt8] {
  [first, 9, repeats, UInt8(entries.count)] + entries
}

private let remembered: [[UInt8]] = {
  let entry = [UInt8](0..<24)
  let other = [UInt8](repeating: 7, count: 24)
  return [
    row(0, 0, entry + other), row(0, 0, entry) + row(1, 0, other), row(0, 0, entry + entry),
    row(3, 12, [UInt8](repeating: 0, count: 24)), row(0, 0, Array(entry.dropLast())),
    row(0, 0, entry) + row(0xFF, 0, other),
  ]
}()

/// One database in memory, since SQLite's tables are what is read.
private final class Memory: Sendable {
  let database: Mutex<Database>

  init() throws(DatabaseError) {
    database = Mutex(try Database(":memory:", migrations: [DoublesTables.migration]))
  }

  static let shared = answer { () throws(DatabaseError) in try Memory() }
}

private func remember(_ input: [UInt8]) throws(Violation) {
  let memory = try accepted("a database") { () throws(DatabaseError) in try Memory.shared.get() }
  try memory.database.withLock { database throws(Violation) in
    let bytes = try accepted("the rows") { () throws(DatabaseError) in
      try fill(database, input)
    }
    let doubles = answer { () throws(DatabaseError) in
      try DoublesTables.load(database, key: key)
    }
    switch doubles {
    case .failure(let error): try require(error.kind == .corrupt, "\(error)")
    case .success(var doubles):
      try require(
        doubles.memoryBytes <= 100 * bytes + (4 << 20),
        "\(doubles.memoryBytes) bytes of \(bytes) in the file")
      try use(&doubles, database)
    }
  }
}

private func fill(
  _ database: borrowing Database, _ input: [UInt8]
) throws(DatabaseError) -> Int {
  try database.execute("DELETE FROM doubles; DELETE FROM double_conflicts")
  let put = try database.prepare("INSERT OR REPLACE INTO doubles VALUES (?, ?, ?, ?)")
  var rest = input[...]
  var bytes = 0
  for _ in 0..<8 where rest.count >= 4 {
    let head = Array(rest.prefix(4))
    let entries = Array(rest.dropFirst(4).prefix(Int(head[3])))
    rest = rest.dropFirst(4 + entries.count)
    let blob = (0..<1 << (head[2] % 14)).flatMap { _ in entries }
    bytes += blob.count
    try put.bind(1, head[0] == 0xFF ? UInt64.max : UInt64(head[0]) << (head[0] & 0x3F))
    try put.bind(2, UInt64(blob.count / 24))
    try put.bind(3, head[1] == 0xFF ? UInt64.max : UInt64(head[1]))
    try put.bind(4, blob)
    try put.run()
  }
  return bytes
}

private func use(
  _ doubles: inout Doubles, _ database: borrowing Database
) throws(Violation) {
  let payload = payloads[1].parted(at: 0).rest
  let span = unsafe payload.span.bytes
  let fields = try accepted("the sample") { () throws(MessagePackError) in
    try EventFields(reading: span)
  }
  let place = Position(epoch: 1, offset: 100)
  let name = [UInt8(ascii: "A")]
  for verdict in [Doubles.Verdict.new, .double] {
    let found = doubles.check(fields, of: span, name: unsafe name.span.bytes, at: place)
    try require(found == verdict, "\(found) where it is \(verdict)")
  }
  let again = try accepted("what is stored") { () throws(DatabaseError) in
    try DoublesTables.store(doubles, in: database)
    return try DoublesTables.load(database, key: key)
  }
  try require(again.count >= doubles.count, "\(doubles.count) became \(again.count)")
}

// Typed events

private struct Sample: Codable, PublishableEvent, SubscribableEvent {
  static let eventType: EventType = "Sample"

  enum Word: String, Codable { case first, second }
  struct Inner: Codable { var list: [Int8]?, map: [String: Double]?, deeper: [[Bool?]]? }

  var text: String?
  var word: Word?
  var numbers: [UInt64]?
  var small: Int16?
  var wide: Int64?
  var ratio: Float?
  var exact: Double?
  var flag: Bool?
  var inner: Inner?
  var time: Timestamp?
  var value: PropertyValue?
}

private let catalogue = EventCatalog([
  EventType.GameStarted.self, EventType.GameEnded.self, EventType.GameReset.self,
])

private let typedSeeds: [[UInt8]] =
  payloads.map { $0.parted(at: 0).rest }
  + [
    #"{"event": "Sample", "properties": {"text": "t", "word": "second", "numbers": [1, 2], "small": -5, "wide": 9, "#
      + #""ratio": 1.5, "exact": 2, "flag": true, "inner": {"list": [1], "map": {"a": 1}, "deeper": [[true, null]]}, "#
      + #""time": "2024-05-01T12:00:00Z", "value": {"a": [1, "b"]}}}"#,
    #"{"event": "Game Ended", "properties": {"Opponent Type": "human", "Winning Player": "draw", "value": 7}}"#,
    #"{"event": "Game Started", "properties": {"opponentType": "computer"}}"#,
  ].compactMap { text in
    var reader = JSONEventReader()
    var payload: [UInt8] = []
    let bytes = Array(text.utf8)
    let topic = answer { () throws(CodecError) in
      try reader.read(unsafe bytes.span.bytes, received: received, into: &payload)
    }
    guard case .success = topic else { return nil }
    return payload
  }

private func decodeTyped(_ payload: [UInt8]) throws(Violation) {
  for type in catalogue.allEventTypes {
    _ = answer { () throws(EventDecodingError) in
      let properties: PropertyReader
      do throws(MessagePackError) {
        properties = try PayloadReader(unsafe payload.span.bytes).properties()
      } catch { throw EventDecodingError(error) }
      _ = try catalogue.decode(type, properties: properties)
    }
  }
  try checkTyped(EventType.GameEnded.self, payload)
  try checkTyped(EventType.GameStarted.self, payload)
  try checkTyped(Sample.self, payload)
}

private func checkTyped<Event: PublishableEvent & SubscribableEvent>(
  _ type: Event.Type, _ payload: [UInt8]
) throws(Violation) {
  let event = answer { () throws(EventDecodingError) in
    try PayloadReader(unsafe payload.span.bytes).event(Event.self)
  }
  guard case .success(let event) = event else { return }
  let once = try encoded(event)
  let again = try accepted("what was written") { () throws(EventDecodingError) in
    try Event(properties: PropertyReader(unsafe once.span.bytes))
  }
  // Members of a dictionary have no order.
  try require(try encoded(again).sorted() == once.sorted(), "\(event) became \(again)")
}

private func encoded(_ event: some PublishableEvent) throws(Violation) -> [UInt8] {
  try accepted("\(event)") { () throws(EventEncodingError) in
    var writer = PropertyWriter()
    let map = writer.output.beginMap()
    try event.encodeProperties(into: &writer)
    writer.output.end(map, count: writer.count)
    return writer.output.bytes
  }
}

// Plans and probes

private func plan(_ input: [UInt8]) throws(Violation) {
  let (_, payload) = input.parted(at: 0)
  let envelope = answer { () throws(CodecError) in
    try EventEnvelope(payload: unsafe payload.span.bytes)
  }
  guard case .success(let event) = envelope, event.kind == .track, let name = event.event
  else { return }
  _ = RawPaths.recordedPath(of: event)
  var inference = PlanInference(maximumValues: 3)
  for _ in 0..<12 { inference.take(EventType(name), event.properties) }
  let plan = inference.plan
  let again = try accepted("its plan: \(plan.json.text)") { () throws(PlanError) in
    try PlanDocument(parsing: plan.json)
  }
  try require(again == plan, plan.json.text)
  guard inference.leftOut == 0, inference.count > 0 else { return }
  let problems = PlanCheck(again).problems(EventType(name), event.properties)
  try require(problems.isEmpty, "\(problems)")
}

private let probes: [[UInt8]] = [0, 300].map { size in
  var writer = ProbeWriter(run: 5, producer: 2, size: size, clockOffset: 7)
  writer.write(sequence: 3, intended: 11, isWarmUp: size == 0)
  return writer.bytes
}

private func readProbe(_ input: [UInt8]) throws(Violation) {
  // With a checksum that fits: chance finds none.
  var bytes = input
  if bytes.count >= 4 {
    let end = bytes.count - 4
    bytes.storeBigEndian(CRC32C.checksum(unsafe bytes.span.bytes.extracting(0..<end)), at: end)
  }
  for size in [0, 300] {
    let reader = ProbeReader(run: 5, size: size)
    _ = unsafe reader.read(input.span.bytes)
    guard case .event(let producer, _, _, _) = unsafe reader.read(bytes.span.bytes) else {
      continue
    }
    try require(bytes.count >= ProbePlaces.minimumSize, "\(bytes.count) bytes of \(producer)")
  }
}
