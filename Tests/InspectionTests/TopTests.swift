import BusProtocol
import Testing

@testable import Inspection

@Suite struct TopTests {
  static func status(events: UInt64, cursor: UInt64, name: String = "Game Ended") -> ControlMap {
    var entry = ControlMap()
    entry["name"] = .text(name)
    entry["events"] = .number(events)
    var ledger = ControlMap()
    ledger["received"] = .number(events)
    var consumer = DoctorTests.consumer("reader", cursor: cursor, lag: events - cursor)
    consumer["paused"] = .flag(true)
    var map = ControlMap()
    map["names"] = .list([.map(entry)])
    map["consumers"] = .list([.map(consumer)])
    map["ledger"] = .map(ledger)
    map["head"] = .number(events)
    return map
  }

  @Test func `rates are those between the last two answers`() throws {
    var top = TopCore(bus: "bus")
    top.take(Self.status(events: 1000, cursor: 900), at: 0)
    #expect(top.frame(rows: 50, columns: 80, now: 0)[1].contains("in -"))
    top.take(Self.status(events: 3000, cursor: 1000), at: 2_000_000_000)
    let lines = top.frame(rows: 50, columns: 80, now: 0)
    #expect(lines[1].contains("in 1000"))
    #expect(lines.contains { $0.contains("Game Ended") && $0.contains(" 1000 ") })
    let reader = try #require(lines.first { $0.hasPrefix("reader") })
    #expect(
      reader.split(separator: " ") == ["reader", "50", "2000", "1000", "connected,", "paused"])
  }

  @Test func `a broker that began anew has no rate, not a huge one`() {
    var top = TopCore(bus: "bus")
    top.take(Self.status(events: 1000, cursor: 900), at: 0)
    top.take(Self.status(events: 10, cursor: 5), at: 1_000_000_000)
    #expect(top.frame(rows: 50, columns: 80, now: 0)[1].contains("in -"))
  }

  @Test(arguments: [(1, 80), (3, 10), (24, 80), (60, 200), (0, 0)])
  func `the screen is never left`(_ size: (rows: Int, columns: Int)) {
    var top = TopCore(bus: "tcp://127.0.0.1:7400")
    top.take(
      Self.status(events: 1000, cursor: 900, name: String(repeating: "x", count: 300)), at: 0)
    let lines = top.frame(rows: size.rows, columns: size.columns, now: 0)
    #expect(lines.count <= size.rows)
    #expect(lines.allSatisfy { $0.count <= max(1, size.columns) })
  }

  @Test func `control characters of a name do not reach the terminal`() {
    var top = TopCore(bus: "bus")
    top.take(Self.status(events: 10, cursor: 1, name: "a\u{1B}[2Jb\nc"), at: 0)
    let text = top.frame(rows: 50, columns: 80, now: 0, note: "\u{7}bell").joined()
    #expect(!text.unicodeScalars.contains { $0.value < 0x20 || $0.value == 0x7F })
    #expect(text.contains("a\\u{1B}[2Jb\\nc"))
  }

  @Test func `more names than fit are counted`() {
    var names: [ControlValue] = []
    for number in 0..<100 {
      var entry = ControlMap()
      entry["name"] = .text("Name \(number)")
      names.append(.map(entry))
    }
    var status = ControlMap()
    status["names"] = .list(names)
    var top = TopCore(bus: "bus")
    top.take(status, at: 0)
    #expect(top.frame(rows: 24, columns: 80, now: 0).contains { $0.hasPrefix("and ") })
  }
}
