internal import BusProtocol
internal import EventCodec
internal import Hashing
internal import Primitives
internal import SinkState

/// What a part's lines say, to compare it with what the catalogue says of the part.
struct PartAccount {
  private let part: Part
  private let hash: KeyedHash
  // A line is longer than its payload: each byte of a control character becomes six.
  private var json = JSONEventReader(limits: CodecLimits(eventBytes: PartReader.maximumFrameBytes))
  private var payload: [UInt8] = []
  private var names: [[UInt8]: UInt64] = [:]
  private var people: [UInt64] = []
  private var timestamps: ClosedRange<Int64>?
  private var first: Position?
  private(set) var last: Position?
  private(set) var count: UInt64 = 0
  private var rawBytes: UInt64 = 0

  init(_ part: Part, _ hash: KeyedHash) {
    self.part = part
    self.hash = hash
  }

  /// Takes one line without its newline; says what is wrong with it.
  mutating func add(_ line: UnsafeRawBufferPointer) -> String? {
    count += 1
    rawBytes += UInt64(line.count) + 1
    guard let position = unsafe LineTail.position(line) else {
      return "has no offset and epoch at its end"
    }
    if let last, position <= last {
      return "has offset \(position.offset), which is not behind \(last.offset)"
    }
    last = position
    first = first ?? position
    guard position >= part.firstPosition, position <= part.lastPosition else {
      return "has offset \(position.offset) of epoch \(position.epoch), outside its part's"
    }
    payload.removeAll(keepingCapacity: true)
    do throws(CodecError) {
      let name = try unsafe json.read(line.bytes, received: 0, into: &payload)
      names[name, default: 0] += 1
    } catch {
      return "is no event: \(error)"
    }
    let about: (time: Int64, people: [UInt64])
    do throws(MessagePackError) {
      about = try unsafe Self.about(payload.span.bytes, hash)
    } catch {
      return "is no event: \(error)"
    }
    timestamps =
      timestamps.map { min($0.lowerBound, about.time)...max($0.upperBound, about.time) }
      ?? about.time...about.time
    people += about.people
    // Many events are of few people; what is twice need not wait.
    if people.count > 1 << 20 { people = PeopleIndex(people).hashes }
    return nil
  }

  private static func about(
    _ payload: RawSpan, _ hash: KeyedHash
  ) throws(MessagePackError) -> (time: Int64, people: [UInt64]) {
    let fields = try EventFields(reading: payload)
    var people: [UInt64] = []
    for person in [fields.userId, fields.anonymousId, fields.previousId] {
      if let hash = try PersonHash.hash(person, in: payload, by: hash) { people.append(hash.high) }
    }
    return (fields.timestamp, people)
  }

  /// Where the catalogue says something else than the lines did, all of them read.
  func differences(names known: [NameCount], people knownPeople: PeopleIndex) -> [String] {
    var found: [String] = []
    func compare<T: Equatable>(_ what: String, _ here: T, _ there: T) {
      if here != there { found.append("\(what): \(here) in the file, \(there) in the catalogue") }
    }
    compare("events", count, part.count)
    compare("bytes of its lines", rawBytes, part.rawBytes)
    compare("first offset", first?.offset, part.first)
    compare("last offset", last?.offset, part.last)
    if let timestamps, timestamps != part.timestamps {
      found.append("the times of its events are others than in the catalogue")
    }
    let counts = Dictionary(known.map { ($0.name, $0.count) }) { a, _ in a }
    if counts != names { found.append("the counts by name are others than in the catalogue") }
    if PeopleIndex(people) != knownPeople {
      found.append("the people are others than in the catalogue's index")
    }
    return found
  }
}
