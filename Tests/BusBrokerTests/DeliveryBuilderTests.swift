import BusProtocol
import EventJournal
import Primitives
import Testing

@testable import BusBroker

@Suite struct DeliveryBuilderTests {
  struct Event: Equatable {
    var name: String
    var offset: UInt64
    var payload: UInt8
  }

  static func builder(
    from offset: UInt64 = 100, end: UInt64 = .max, subscriber: String = "me",
    limitBytes: Int = 1 << 20, limitEvents: Int = 1000
  ) -> DeliveryBuilder {
    DeliveryBuilder(
      MessageHeader(.batch, token: 7), subscriber: Array(subscriber.utf8),
      from: Position(epoch: SampleChunks.epoch, offset: offset), end: end,
      limitBytes: limitBytes, limitEvents: limitEvents)
  }

  /// The message taken apart as a client does it.
  static func events(_ message: [UInt8]) throws -> [Event] {
    let span = unsafe message.span.bytes
    var events: [Event] = []
    for delivery in try DeliveryMessage(decoding: span).deliveries {
      let body = span.extracting(delivery.range)
      let batch = try Batch(checking: body)
      let names = batch.nameRanges(in: body).map {
        String(decoding: body.extracting($0).copied(), as: UTF8.self)
      }
      var at = batch.payloadsStart
      for index in 0..<batch.eventCount {
        let entry = batch.entry(index, in: body, payloadAt: &at)
        events.append(
          Event(
            name: names[entry.name], offset: delivery.base + UInt64(entry.distance),
            payload: body.bigEndian(at: entry.payload.lowerBound)))
      }
    }
    return events
  }

  static let chunk = SampleChunks.chunk(first: 100, [["a", "b", "a"], ["c"], ["b", "c"]])

  @Test func `everything goes out as it came in`() throws {
    var builder = Self.builder()
    var filter = SubscriptionFilter([])
    builder.add(Self.chunk, filter: &filter)
    let message = builder.finish(flags: 1)
    #expect(builder.eventCount == 6)
    #expect(builder.deliveries == 3)
    #expect(try Self.events(message).map(\.offset) == Array(100..<106))
    #expect(message[3] == 1)
    let decoded = try DeliveryMessage(decoding: unsafe message.span.bytes)
    #expect(decoded.scannedTo == Position(epoch: SampleChunks.epoch, offset: 106))
    #expect(decoded.deliveries.map(\.time) == [1000, 1030, 1040])
    #expect(Array(message[decoded.deliveries[0].range]) == SampleChunks.batch(["a", "b", "a"]))
  }

  @Test func `a batch that matches in part keeps its events' offsets`() throws {
    var builder = Self.builder()
    var filter = SubscriptionFilter([NameFilter(.exact, "b")])
    builder.add(Self.chunk, filter: &filter)
    #expect(builder.scannedTo.offset == 106)
    let message = builder.finish()
    #expect(
      try Self.events(message) == [
        Event(name: "b", offset: 101, payload: 1), Event(name: "b", offset: 104, payload: 0),
      ])
  }

  @Test func `a message holds little more memory than it has bytes`() throws {
    let expected = DeliveryBuilder.bytes(of: [Self.chunk, Self.chunk], atMost: 512 << 10)
    #expect(expected == 2 * Self.chunk.bytes.count)
    #expect(DeliveryBuilder.bytes(of: [Self.chunk, Self.chunk], atMost: 10) == 10)
    // Expected to be large, as from a read of the disk, and small in the end.
    var builder = DeliveryBuilder(
      MessageHeader(.batch, token: 7), subscriber: [], from: Position(epoch: 3, offset: 100),
      limitBytes: 512 << 10, limitEvents: 1000, expecting: 512 << 10)
    var filter = SubscriptionFilter([])
    builder.add(Self.chunk, filter: &filter)
    let message = builder.finish()
    #expect(message.capacity < 1024)
    #expect(try Self.events(message).map(\.offset) == Array(100..<106))
  }

  @Test func `a batch that cannot be read is left out and counted`() throws {
    var newer = SampleChunks.batch(["a", "b"])
    newer[0] = 2
    let chunk = SampleChunks.chunk(
      first: 100, [SampleChunks.batch(["a"]), newer, SampleChunks.batch(["a"])])
    var builder = Self.builder()
    var filter = SubscriptionFilter([NameFilter(.exact, "a")])
    builder.add(chunk, filter: &filter)
    #expect(try Self.events(builder.finish()).map(\.offset) == [100, 103])
    let unreadable = try #require(builder.unreadable)
    #expect((unreadable.offset, unreadable.events) == (101, 2))
    #expect(unreadable.reason.contains("version 2"))
  }

  @Test func `what does not match is scanned and not sent`() throws {
    var builder = Self.builder()
    var filter = SubscriptionFilter([NameFilter(.exact, "z")])
    builder.add(Self.chunk, filter: &filter)
    #expect(builder.deliveries == 0)
    #expect(builder.scannedTo.offset == 106)
    #expect(!builder.isFull)
  }

  @Test(arguments: [("me", [100, 101]), ("you", [101])] as [(String, [UInt64])])
  func `an addressed batch is for its addressees`(_ name: String, _ offsets: [UInt64]) throws {
    let chunk = SampleChunks.chunk(
      first: 100, [SampleChunks.batch(["a"], addressees: ["x", "me"]), SampleChunks.batch(["a"])])
    for filters in [[], [NameFilter(.prefix, "a")]] {
      var builder = Self.builder(subscriber: name)
      var filter = SubscriptionFilter(filters)
      builder.add(chunk, filter: &filter)
      let message = builder.finish()
      #expect(try Self.events(message).map(\.offset) == offsets)
      #expect(builder.scannedTo.offset == 102)
    }
  }

  @Test(
    arguments: [
      // The first batch goes out whatever its size, else nothing ever would.
      (1, 1, 103), (1, 1000, 103), (1 << 20, 1, 103), (1 << 20, 3, 103), (1 << 20, 4, 104),
      (1 << 20, 5, 104), (1 << 20, 6, 106), (1 << 20, 1000, 106),
    ] as [(Int, Int, UInt64)])
  func `a message closes at whole batches within its limits`(
    _ limitBytes: Int, _ limitEvents: Int, _ scannedTo: UInt64
  ) throws {
    var builder = Self.builder(limitBytes: limitBytes, limitEvents: limitEvents)
    var filter = SubscriptionFilter([])
    builder.add(Self.chunk, filter: &filter)
    #expect(builder.scannedTo.offset == scannedTo)
    #expect(builder.isFull == (limitEvents <= 6 || limitBytes == 1))
    let message = builder.finish()
    #expect(try Self.events(message).map(\.offset) == Array(100..<scannedTo))
  }

  @Test func `a message goes on where the last one ended`() throws {
    var offsets: [UInt64] = []
    var from: UInt64 = 100
    var filter = SubscriptionFilter([])
    while from < 106 {
      var builder = Self.builder(from: from, limitEvents: 1)
      builder.add(Self.chunk, filter: &filter)
      #expect(builder.scannedTo.offset > from)
      from = builder.scannedTo.offset
      let message = builder.finish()
      offsets += try Self.events(message).map(\.offset)
    }
    #expect(offsets == Array(100..<106))
  }

  @Test func `a cursor within a batch gets the whole batch`() throws {
    var builder = Self.builder(from: 102, limitEvents: 1)
    var filter = SubscriptionFilter([])
    builder.add(Self.chunk, filter: &filter)
    let message = builder.finish()
    #expect(try Self.events(message).map(\.offset) == [100, 101, 102])
  }

  @Test func `batches at the end and after are not sent`() throws {
    var builder = Self.builder(end: 103)
    var filter = SubscriptionFilter([])
    builder.add(Self.chunk, filter: &filter)
    #expect(builder.isFull)
    #expect(builder.scannedTo.offset == 103)
  }

  @Test func `a chunk before the cursor changes nothing and a gap is skipped`() {
    var builder = Self.builder(from: 500)
    var filter = SubscriptionFilter([])
    builder.add(Self.chunk, filter: &filter)
    #expect(builder.scannedTo.offset == 500)
    builder.skip(to: 600)
    builder.skip(to: 550)
    #expect(builder.scannedTo.offset == 600)
    #expect(builder.deliveries == 0)
  }
}

@Suite struct SubscriptionFilterTests {
  static func matches(_ filter: inout SubscriptionFilter, _ name: String) -> Bool {
    let bytes = Array(name.utf8)
    return filter.matches(unsafe bytes.span.bytes)
  }

  @Test(
    arguments: [
      ([], "Anything", true),
      ([NameFilter(.exact, "Game")], "Game", true),
      ([NameFilter(.exact, "Game")], "Games", false),
      ([NameFilter(.prefix, "Game")], "Games", true),
      ([NameFilter(.prefix, "Game")], "game", false),
      ([NameFilter(.glob, "*End*")], "Game Ended", true),
      ([NameFilter(.glob, "End*")], "Game Ended", false),
      ([NameFilter(.glob, #"\*"#)], "*", true),
      ([NameFilter(.glob, #"\*"#)], "x", false),
      ([NameFilter(.exact, "A"), NameFilter(.prefix, "B")], "Bee", true),
      ([NameFilter(.exact, "A"), NameFilter(.prefix, "B")], "Cee", false),
    ] as [([NameFilter], String, Bool)])
  func `names are matched, also when asked again`(
    _ filters: [NameFilter], _ name: String, _ expected: Bool
  ) {
    var filter = SubscriptionFilter(filters)
    let answers = [Self.matches(&filter, name), Self.matches(&filter, name)]
    #expect(answers == [expected, expected])
    #expect(filter.matchesAll == filters.isEmpty)
  }

  @Test func `verdicts stay right when the memory of names starts again`() {
    var filter = SubscriptionFilter([NameFilter(.prefix, "even")])
    for round in 0..<2 {
      for number in 0...SubscriptionFilter.maximumRemembered {
        let isEven = number.isMultiple(of: 2)
        let answer = Self.matches(&filter, "\(isEven ? "even" : "odd") \(number)")
        #expect(answer == isEven, "round \(round)")
      }
    }
  }
}
