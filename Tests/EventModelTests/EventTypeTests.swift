import EventModel
import Testing

@Suite struct EventTypeTests {
  @Test func `names are compared by their bytes`() {
    #expect(EventType("Caf\u{E9}") != EventType("Cafe\u{301}"))
    #expect(Set([EventType("A"), "A", "a"]).count == 2)
  }

  @Test func `each destination has its name, and it can be another`() {
    let type = EventType.GameStarted.eventType
    #expect(type.segmentName == "Game Started")
    #expect(type.gameAnalyticsName == "game:started")
    let renamed = EventType("Game Started", segmentName: "Begun", gameAnalyticsName: "g:s")
    #expect(renamed.segmentName == "Begun" && renamed.gameAnalyticsName == "g:s")
    #expect(renamed == type)
  }

  @Test func `the catalogue lists the sample events in order and finds them by name`() {
    let names = EventType.allEventTypes.map(\.rawValue)
    #expect(names == ["Game Started", "Game Ended", "Game Reset", "Survey Answer"])
    #expect(EventCatalog.samples.eventType(named: "game started") == nil)
  }

  @Test(arguments: [
    (-1, "invalid"), (0, "< 8"), (7, "< 8"), (8, "8 - 14"), (14, "8 - 14"), (15, "15 - 20"),
    (20, "15 - 20"), (21, "21 - 30"), (30, "21 - 30"), (31, "> 30"), (Int.max, "> 30"),
  ])
  func `a number of moves has its label`(moves: Int, label: String) {
    #expect(MoveCountCategory(moveCount: moves).rawValue == label)
  }

  @Test func `true, 1 and 1.0 are three values, and nothing but null is null`() {
    let values: [PropertyValue] = [true, 1, 1.0, "1", "true", nil, 0, -0.0, 0.0, false]
    #expect(Set(values).count == values.count)
    #expect(PropertyValue.uint(5) == .int(5))
    #expect(PropertyValue.string("\u{E9}") != .string("e\u{301}"))
  }

  @Test func `an event's own property wins over a common one`() {
    let own: PropertyObject = ["a": 1]
    #expect(own.merging(["a": 2, "b": 3]) == ["a": 1, "b": 3])
  }

  @Test(arguments: [
    ("*", "anything", true), ("Game *", "Game Started", true), ("Game *", "Game", false),
    ("*ed", "Game Started", true), ("G*S*d", "Game Started", true),
    ("G*X*d", "Game Started", false),
    ("a\\*b", "a*b", true), ("a\\*b", "axb", false), ("a\\\\b", "a\\b", true),
    ("a\\nb", "a\\nb", true), ("[a-z]*", "[a-z]x", true), ("[a-z]*", "b", false),
    ("ab*ab", "ab", false), ("ab*ab", "abab", true), ("game", "Game", false),
  ])
  func `a pattern matches what it says`(pattern: String, name: String, matches: Bool) {
    #expect(EventPattern(pattern).matches(Array(name.utf8)) == matches)
  }

  @Test(arguments: [
    "", "   ", "\t\n", "\u{3000}", "a\0b", "$identify", "$forget", "$HEAD/x",
    String(repeating: "x", count: 201), String(repeating: "\u{1F3AE}", count: 51),
  ])
  func `a name that cannot be used is refused`(name: String) {
    #expect(throws: EventNameError.self) { try EventName.validate(name) }
  }

  @Test(arguments: [
    "-rf", "*", "$pageview", "Tab\tName", "  padded  ", "NULL", "${HOME}",
    String(repeating: "x", count: 200), "\u{1F469}\u{200D}\u{1F467} Joined",
  ])
  func `an odd name is a name`(name: String) throws {
    try EventName.validate(name)
  }
}
