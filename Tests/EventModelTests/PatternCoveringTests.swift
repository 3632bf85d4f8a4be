internal import EventModel
internal import Primitives
internal import Testing

/// Whether one pattern covers another.
struct PatternCoveringTests {
  @Test(arguments: [
    ("*", "*"), ("*", "Game *"), ("*", "Game Ended"), ("*", "**"), ("**", "*"), ("*", ""),
    ("Game *", "Game *"), ("Game *", "Game Ended"), ("Game *", "Game E*d"), ("*d", "Game*d"),
    ("*a*", "*a*"), ("a*b*c", "ab*bc"), (#"\*"#, #"\*"#), (#"a\**"#, #"a\*b*"#), ("Game", "Game"),
  ])
  func `all that one matches the other matches`(wide: String, narrow: String) {
    #expect(EventPattern(wide).covers(EventPattern(narrow)))
  }

  @Test(arguments: [
    ("Game *", "*"), ("Game *", "Game*"), ("Game *", "G*"), ("Game", "Game*"), ("*d", "*"),
    ("*d", "Game *"), (#"\*"#, "*"), ("a*", #"\*"#), ("*a*", "*"), ("a*a", "a"), ("", "*"),
    ("*ab*", "*a*b*"),
  ])
  func `a wider one is not covered`(wide: String, narrow: String) {
    #expect(!EventPattern(wide).covers(EventPattern(narrow)))
  }

  @Test func `whatever a covered pattern matches, the covering one matches`() {
    var random = SeededRandom(seed: 7)
    let letters = Array("ab*".utf8)
    func text(_ count: Int) -> [UInt8] { (0..<count).map { _ in letters[Int(random.next() % 3)] } }
    var covered = 0
    for _ in 0..<20_000 {
      let wide = EventPattern(glob: text(Int(random.next() % 6)))
      let narrow = EventPattern(glob: text(Int(random.next() % 6)))
      guard wide.covers(narrow) else { continue }
      covered += 1
      for _ in 0..<20 {
        let name = text(Int(random.next() % 8)).filter { $0 != UInt8(ascii: "*") }
        if narrow.matches(name) { #expect(wide.matches(name)) }
      }
    }
    #expect(covered > 1000)
  }
}
