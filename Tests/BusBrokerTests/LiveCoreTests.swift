import BusProtocol
import Testing

@testable import BusBroker

@Suite struct LiveCoreTests {
  static func core(_ names: [String], lastSequences: [UInt64] = []) -> LiveCore {
    var core = LiveCore()
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
    let change = core.subscribe(topic)
    #expect(change == .none)
    #expect(core.isWanted == wanted, "\(what)")
    core.unsubscribe(topic)
    #expect(core.isWanted == [false, false, false])
  }

  @Test func `a name that comes later is wanted by the subscriptions there are`() {
    var core = Self.core([])
    _ = core.subscribe(Self.prefix("Ga"))
    core.take(
      LiveGroup(
        chunk: nil, names: GroupNames(), head: 41, newNames: [Array("Game".utf8), [0x78]]))
    #expect(core.isWanted == [true, false])
    #expect(core.head == 41)
  }

  @Test func `a topic is wanted until its last subscriber leaves`() {
    var core = Self.core(["A"])
    for _ in 0..<3 { _ = core.subscribe(Self.topic("A")) }
    for left in [true, true, false, false] {
      core.unsubscribe(Self.topic("A"))
      #expect(core.isWanted == [left])
    }
    _ = core.subscribe(Self.topic("A"))
    #expect(core.isWanted == [true])
  }

  @Test func `overlapping subscriptions end one by one`() {
    var core = Self.core(["A", "AB"])
    _ = core.subscribe(Self.prefix("A"))
    _ = core.subscribe(Self.topic("AB"))
    core.unsubscribe(Self.prefix("A"))
    #expect(core.isWanted == [false, true])
  }

  @Test func `a head topic asks for a beacon and ends with its last subscriber`() {
    var core = Self.core(["A"], lastSequences: [9])
    let changes = [core.subscribe(Self.topic("$HEAD/A")), core.subscribe(Self.topic("$HEAD/A"))]
    #expect(changes == [.beacon(name: [0x41]), .beacon(name: [0x41])])
    #expect(core.isWanted == [false])
    core.unsubscribe(Self.topic("$HEAD/A"))
    #expect(core.beacons == [[0x41]])
    core.unsubscribe(Self.topic("$HEAD/A"))
    #expect(core.beacons.isEmpty)
  }

  @Test(arguments: ["$HEAD/", "$HEAD/A", "$HEAD", "$head/A\0", "$HEAD/\0"])
  func `what is no whole head topic asks for no beacon`(_ text: String) {
    var core = Self.core(["A"])
    let change = core.subscribe(Array(text.utf8))
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

  @Test func `one subscription over the limit is refused and known ones still counted`() {
    var core = Self.core(["A"])
    for number in 0..<LiveCore.maximumSubscriptions { _ = core.subscribe(Self.topic("\(number)")) }
    let refused = core.subscribe(Self.topic("A"))
    #expect(refused == .tooMany)
    #expect(core.isWanted == [false])
    let known = core.subscribe(Self.topic("1"))
    #expect(known == .none)
    core.unsubscribe(Self.topic("2"))
    let taken = core.subscribe(Self.topic("A"))
    #expect(taken == .none)
    #expect(core.isWanted == [true])
  }
}
