import Primitives
import Testing

@testable import BusProtocol

/// Tests of what a reader does with newer peers and with values at their limits.
@Suite struct UnknownAndLimitTests {
  static func header(_ bytes: [UInt8]) throws -> MessageHeader {
    try MessageHeader(decoding: unsafe bytes.span.bytes)
  }

  @Test func `unknown flags of a message are ignored`() throws {
    var bytes = MessageHeader(.ping, token: 4).message
    bytes[3] = 0xFF
    #expect(try Self.header(bytes).verb == .ping)
    #expect(try Self.header(bytes).token == 4)
  }

  @Test(arguments: UInt8.min...UInt8.max)
  func `each byte as verb is known or named in the error`(_ verb: UInt8) {
    var bytes = MessageHeader(.ping).message
    bytes[2] = verb
    if let known = Verb(rawValue: verb) {
      #expect((try? Self.header(bytes))?.verb == known)
    } else {
      #expect(throws: ProtocolError.unknownVerb(verb)) { try Self.header(bytes) }
    }
  }

  @Test(arguments: [0, 2, 255] as [UInt8])
  func `another version is told before anything else is read`(_ version: UInt8) {
    var bytes = MessageHeader(.ping).message
    bytes[1] = version
    bytes[2] = 200
    #expect(throws: ProtocolError.version(version)) { try Self.header(bytes) }
    bytes[0] = 0xEC
    #expect(throws: ProtocolError.notThisProtocol) { try Self.header(bytes) }
  }

  @Test(arguments: [
    (0, 2),  // version
    (1, 4),  // an unknown flag
    (3, 0),  // no name
    (3, 4),  // more names than events
    (7, 0),  // no event
    (12, 0),  // a name without bytes
    (22, 2),  // a name outside the table
  ])
  func `a batch with a field out of its bounds is refused`(_ index: Int, _ value: UInt8) {
    var bytes = BatchContent.plain.encode()
    bytes[index] = value
    #expect(throws: ProtocolError.self) { try Batch(checking: unsafe bytes.span.bytes) }
  }

  @Test(arguments: [2, 12, 13, 300])
  func `a batch whose table has a name twice is refused`(_ count: Int) throws {
    let events = (0..<count).map { number in
      BatchContent.Event(name: Array("\(number + 100)".utf8), payload: [])
    }
    var bytes = BatchContent(events: events).encode()
    #expect(try Batch(checking: unsafe bytes.span.bytes).nameCount == count)
    // The last name, of three bytes behind its length, becomes the first.
    let last = 12 + (count - 1) * 4
    bytes.replaceSubrange(last..<last + 4, with: bytes[12..<16])
    #expect(throws: ProtocolError.batch(reason: "a name stands twice in its table")) {
      try Batch(checking: unsafe bytes.span.bytes)
    }
  }

  @Test func `a pause is told with the head and when the session opens`() throws {
    let head = HeadMessage(head: 9, lag: 4, isPaused: true)
    #expect(try HeadMessage(decoding: unsafe head.encode(token: 3).span.bytes) == head)
    let opened = OpenedMessage(
      token: 1, cursor: Position(epoch: 1, offset: 2), earliest: 0, head: 9, seekGeneration: 0,
      isPaused: true, epochs: [], broker: BrokerDescription())
    #expect(try OpenedMessage(decoding: unsafe opened.encode().span.bytes) == opened)
  }

  @Test func `a batch has at most as many events as its reader allows`() throws {
    let bytes = BatchContent.plain.encode()
    #expect(try Batch(checking: unsafe bytes.span.bytes, maximumEvents: 3).eventCount == 3)
    #expect(throws: ProtocolError.self) {
      try Batch(checking: unsafe bytes.span.bytes, maximumEvents: 2)
    }
  }

  @Test(arguments: [([1, 1], false), ([2, 1], false), ([0, 65535], true)])
  func `distances rise`(_ distances: [Int], _ isGood: Bool) {
    let content = BatchContent(
      events: distances.map { .init(name: [0x61], payload: [], distance: $0) })
    let bytes = content.encode()
    let batch = try? Batch(checking: unsafe bytes.span.bytes)
    #expect((batch?.lastDistance == distances.last) == isGood)
  }

  @Test func `a full batch of 65,535 names is read`() throws {
    let content = BatchContent(
      events: (0..<65535).map { .init(name: Array("\($0)".utf8), payload: [UInt8($0 & 255)]) })
    let bytes = content.encode()
    #expect(try BatchContent(reading: unsafe bytes.span.bytes) == content)
  }

  @Test(arguments: [(16, true), (15, false), (17, false), (0, false)])
  func `a producer is sixteen bytes`(_ count: Int, _ isGood: Bool) {
    let bytes = HelloMessage(
      client: "c", producer: [UInt8](repeating: 1, count: count), instance: []
    ).encode()
    #expect(((try? HelloMessage(decoding: unsafe bytes.span.bytes)) != nil) == isGood)
  }

  @Test func `a producer of zeros is refused`() {
    let zeros = [UInt8](repeating: 0, count: 16)
    let bytes = HelloMessage(client: "c", producer: zeros, instance: []).encode()
    #expect(throws: ProtocolError.self) { try HelloMessage(decoding: unsafe bytes.span.bytes) }
  }

  @Test(arguments: [(64, true), (65, false)])
  func `an instance has at most 64 bytes`(_ count: Int, _ isGood: Bool) {
    let instance = [UInt8](repeating: 1, count: count)
    let hello = HelloMessage(client: "c", producer: Sample.producer, instance: instance).encode()
    #expect(((try? HelloMessage(decoding: unsafe hello.span.bytes)) != nil) == isGood)
    let open = OpenMessage(client: "c", name: [], filters: [], start: .earliest, instance: instance)
    let bytes = open.encode()
    #expect(((try? OpenMessage(decoding: unsafe bytes.span.bytes)) != nil) == isGood)
  }

  static func opens(name: Int = 1, filters: [NameFilter] = []) -> Bool {
    let bytes = OpenMessage(
      client: "c", name: [UInt8](repeating: 0x61, count: name), filters: filters,
      start: .earliest, instance: []
    ).encode()
    return (try? OpenMessage(decoding: unsafe bytes.span.bytes)) != nil
  }

  @Test func `names, filters and their number are bounded`() {
    #expect(Self.opens(name: 200))
    #expect(!Self.opens(name: 201))
    for (kind, limit) in [(NameFilter.Kind.exact, 200), (.prefix, 200), (.glob, 400)] {
      let text = [UInt8](repeating: 0x61, count: limit)
      #expect(Self.opens(filters: [NameFilter(kind, text)]))
      #expect(!Self.opens(filters: [NameFilter(kind, text + [0x61])]))
    }
    #expect(Self.opens(filters: Array(repeating: NameFilter(.exact, "a"), count: 1000)))
    #expect(!Self.opens(filters: Array(repeating: NameFilter(.exact, "a"), count: 1001)))
  }

  @Test(
    arguments: [
      .earliest, .latest, .offset(.max), .time(.max),
      .position(Position(epoch: .max, offset: .max)),
      .cursor(otherwise: .latest),
    ] as [StartPosition])
  func `each start position is read as it was written`(_ start: StartPosition) throws {
    let bytes = FetchMessage(request: 1, start: start).encode()
    #expect(try FetchMessage(decoding: unsafe bytes.span.bytes).start == start)
  }

  @Test func `an unknown start is refused and a cursor within a cursor too`() {
    for (start, otherwise) in [("middle", "latest"), ("cursor", "cursor")] {
      var map = ControlMap()
      map["start"] = .text(start)
      map["otherwise"] = .text(otherwise)
      let bytes = map.message(MessageHeader(.fetch))
      #expect(throws: ProtocolError.self) { try FetchMessage(decoding: unsafe bytes.span.bytes) }
    }
  }

  @Test(arguments: [
    UInt64.max, UInt64(Int64.max), 9_223_372_036_900, 3_600_001,
  ])
  func `waits and limits that a broker sends cannot overflow a clock or a sum`(_ number: UInt64)
    throws
  {
    var map = ControlMap()
    for key in ["heartbeat", "retry", "window", "batchBytes", "eventBytes", "depth"] {
      map[key] = .number(number)
    }
    let welcomeBytes = map.message(MessageHeader(.welcome))
    let welcome = try WelcomeMessage(decoding: unsafe welcomeBytes.span.bytes)
    #expect(welcome.broker.heartbeat == .seconds(3600))
    #expect(welcome.windowBytes <= Int(UInt32.max))
    #expect(welcome.broker.limits.messageBytes <= Int(UInt32.max) + 65536)
    let refuseBytes = map.message(MessageHeader(.refuse))
    #expect(
      try RefuseMessage(decoding: unsafe refuseBytes.span.bytes).retryAfter == .seconds(3600))
  }

  @Test func `unknown keys of a map are ignored`() throws {
    var map = ControlMap()
    map["newer"] = .list([.number(1)])
    map["why"] = .text("epoch")
    let bytes = map.message(MessageHeader(.gap, token: 3))
    let gap = try GapMessage(decoding: unsafe bytes.span.bytes)
    #expect(gap.why == "epoch")
    #expect(gap.token == 3)
  }

  @Test(arguments: [.max, 1 << 60, 1 << 60 - 1] as [UInt64])
  func `an offset that no journal comes to is refused`(_ offset: UInt64) {
    let isKnown = offset < 1 << 60
    let position = Position(epoch: 1, offset: offset)
    var delivery: [UInt8] = []
    DeliveryMessage.begin(MessageHeader(.batch), into: &delivery)
    DeliveryMessage.finish(&delivery, scannedTo: position, deliveries: 0)
    #expect(isKnown == ((try? DeliveryMessage(decoding: unsafe delivery.span.bytes)) != nil))
    let gap = GapMessage(token: 1, from: position, to: position, why: "damage").encode()
    #expect(isKnown == ((try? GapMessage(decoding: unsafe gap.span.bytes)) != nil))
    let head = HeadMessage(head: offset, lag: 0).encode(token: 1)
    #expect(isKnown == ((try? HeadMessage(decoding: unsafe head.span.bytes)) != nil))
    for place in [(offset, 0), (0, offset)] as [(UInt64, UInt64)] {
      var live: [UInt8] = []
      LiveMeta(epoch: 1, offset: place.0, sequence: place.1, time: 1).encode(into: &live)
      #expect(isKnown == ((try? LiveMeta(decoding: unsafe live.span.bytes)) != nil))
    }
    let opened = OpenedMessage(
      token: 1, cursor: position, earliest: 0, head: 0, seekGeneration: 0, epochs: [],
      broker: BrokerDescription()
    ).encode()
    #expect(isKnown == ((try? OpenedMessage(decoding: unsafe opened.span.bytes)) != nil))
  }
}
