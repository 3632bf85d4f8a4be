import BusProtocol
import Testing

@testable import BusBroker

@Suite struct LiveCoreTests {
  static func core(
    _ names: [String], lastSequences: [UInt64] = [], _ limits: LiveCore.Limits = .init()
  ) -> LiveCore {
    var core = LiveCore(limits)
    core.take(
      LiveGroup(
        chunk: nil, names: GroupNames(), head: 40, newNames: names.map { Array($0.utf8) },
        lastSequences: lastSequences))
    return core
  }

  static func topic(_ name: String) -> [UInt8] { Array(name.utf8) + [0] }
  static func prefix(_ text: String) -> [UInt8] { Array(text.utf8) }

  @Test(
    arguments: [
      ("everything", [], [true, true, true]),
      ("a name", Array("Game\0".utf8), [true, false, false]),
      ("a prefix", Array("Game".utf8), [true, true, false]),
      ("a longer prefix", Array("Games".utf8), [false, true, false]),
      ("an unknown name", Array("Gam\0".utf8), [false, false, false]),
      ("one byte", Array("L".utf8), [false, false, true]),
    ] as [(String, [UInt8], [Bool])])
  func `a subscription wants the names it is a prefix of`(
    _ what: String, _ topic: [UInt8], _ wanted: [Bool]
  ) {
    var core = Self.core(["Game", "Games", "Level"])
    let change = core.subscribe(topic, by: 1).change
    #expect(change == .none)
    #expect(core.isWanted == wanted, "\(what)")
    core.unsubscribe(topic, by: 1)
    #expect(core.isWanted == [false, false, false])
  }

  @Test func `a name that comes later is wanted by the subscriptions there are`() {
    var core = Self.core([])
    _ = core.subscribe(Self.prefix("Ga"), by: 1)
    core.take(
      LiveGroup(
        chunk: nil, names: GroupNames(), head: 41, newNames: [Array("Game".utf8), [0x78]]))
    #expect(core.isWanted == [true, false])
    #expect(core.head == 41)
  }

  @Test func `a topic is wanted until its last subscriber leaves`() {
    var core = Self.core(["A"])
    for connection in 1...3 as ClosedRange<UInt32> {
      _ = core.subscribe(Self.topic("A"), by: connection)
    }
    for (connection, left) in [(1, true), (2, true), (3, false), (3, false)] as [(UInt32, Bool)] {
      core.unsubscribe(Self.topic("A"), by: connection)
      #expect(core.isWanted == [left])
    }
    _ = core.subscribe(Self.topic("A"), by: 1)
    #expect(core.isWanted == [true])
  }

  @Test func `overlapping subscriptions end one by one`() {
    var core = Self.core(["A", "AB"])
    _ = core.subscribe(Self.prefix("A"), by: 1)
    _ = core.subscribe(Self.topic("AB"), by: 1)
    core.unsubscribe(Self.prefix("A"), by: 1)
    #expect(core.isWanted == [false, true])
  }

  @Test func `a head topic asks for a beacon and ends with its last subscriber`() {
    var core = Self.core(["A"], lastSequences: [9])
    let changes = [1, 2].map { core.subscribe(Self.topic("$HEAD/A"), by: $0).change }
    #expect(changes == [.beacon(name: [0x41]), .beacon(name: [0x41])])
    #expect(core.isWanted == [false])
    core.unsubscribe(Self.topic("$HEAD/A"), by: 1)
    #expect(core.beacons == [[0x41]])
    core.unsubscribe(Self.topic("$HEAD/A"), by: 2)
    #expect(core.beacons.isEmpty)
  }

  @Test(arguments: ["$HEAD/", "$HEAD/A", "$HEAD", "$head/A\0", "$HEAD/\0"])
  func `what is no whole head topic asks for no beacon`(_ text: String) {
    var core = Self.core(["A"])
    let change = core.subscribe(Array(text.utf8), by: 1).change
    #expect(change == .none)
    #expect(core.beacons.isEmpty)
  }

  @Test func `a beacon tells the head and the last sequence of its name`() {
    var core = Self.core(["A", "B"], lastSequences: [9, 4])
    core.sent(1, sequence: 5)
    func meta(_ sequence: UInt64) -> LiveMeta {
      LiveMeta(epoch: 2, offset: 40, sequence: sequence, time: 7)
    }
    #expect(core.beacon([0x41], epoch: 2, time: 7) == meta(9))
    #expect(core.beacon([0x42], epoch: 2, time: 7) == meta(5))
    #expect(core.beacon([0x43], epoch: 2, time: 7) == meta(0))
  }

  /// As many topics as there may be, by three connections; the first has most.
  private static func full() -> LiveCore {
    var core = core(["A"], LiveCore.Limits(topics: 10))
    let connections: [UInt32] = [1, 1, 1, 1, 1, 1, 2, 2, 3, 3]
    for (topic, connection) in connections.enumerated() {
      _ = core.subscribe([UInt8(topic)], by: connection)
    }
    return core
  }

  @Test func `who holds most ends when there is no room for one topic more`() {
    var core = Self.full()
    let taken = core.subscribe(Self.topic("A"), by: 6)
    #expect(taken == (.none, [1]))
    #expect(core.isWanted == [true])
  }

  @Test func `what one that must end still asks for is refused, until it has ended`() {
    var core = Self.full()
    _ = core.subscribe(Self.topic("A"), by: 6)
    #expect(core.subscribe(Self.topic("B"), by: 1) == (.refused, []))
    core.end([1])
    #expect(core.subscribe(Self.topic("B"), by: 1) == (.none, []))
  }

  @Test func `who holds most itself is refused one topic more`() {
    var core = Self.full()
    #expect(core.subscribe(Self.topic("A"), by: 1) == (.refused, [1]))
    #expect(core.isWanted == [false])
  }

  @Test func `a topic that somebody has is given to others without more room`() {
    var core = Self.full()
    #expect(core.subscribe([0], by: 6) == (.none, []))
  }

  @Test func `nobody ends what another subscribed to, and twice by one is once`() {
    var core = Self.core(["A"])
    for _ in 0..<2 { _ = core.subscribe(Self.topic("A"), by: 1) }
    core.unsubscribe(Self.topic("A"), by: 2)
    #expect(core.isWanted == [true])
    core.unsubscribe(Self.topic("A"), by: 1)
    #expect(core.isWanted == [false])
  }

  @Test func `connections that ended leave nothing, and others stay`() {
    var core = Self.core(["A", "B"])
    for (topic, connection) in [("A", 1), ("A", 2), ("B", 2), ("$HEAD/B", 2)] as [(String, UInt32)]
    {
      _ = core.subscribe(Self.topic(topic), by: connection)
    }
    core.end([2, 9])
    #expect(core.isWanted == [true, false])
    #expect(core.beacons.isEmpty)
    core.end([1])
    #expect(core.isWanted == [false, false])
  }

  @Test(arguments: [
    ("bytes", LiveCore.Limits(topicBytes: 9), ["abc", "def", "ghi"], "j"),
    ("topics", LiveCore.Limits(topics: 2), ["a", "b"], "c"),
    ("topics with their holders", LiveCore.Limits(holdings: 2), ["a", "b"], "a"),
  ])
  func `what all hold together is bounded`(
    _ what: String, _ limits: LiveCore.Limits, _ topics: [String], _ more: String
  ) {
    var core = Self.core([], limits)
    for topic in topics { #expect(core.subscribe(Self.prefix(topic), by: 1) == (.none, [])) }
    #expect(core.subscribe(Self.prefix(more), by: 2) == (.none, [1]), "\(what)")
  }

  @Test func `a topic that is longer than any name is refused`() {
    var core = Self.core([])
    let topic = [UInt8](repeating: 0x61, count: LiveCore.longestTopic + 1)
    #expect(core.subscribe(topic, by: 1) == (.refused, []))
  }
}
