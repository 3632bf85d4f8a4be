import EventModel
import Primitives
import TestSupport
import Testing

/// Tests of patterns of paths, one by one and by the thousand (S3.8).
@Suite struct EventPathMatcherTests {
  private static let path =
    "#buttonClick:#UIButton#UIButton[0]#UIView[2]#ViewController#UIWindow[0]#UIApplication#AppDelegate"
    + "#currentTitle=Buy now#state=1#enabled=1"

  @Test(arguments: [
    (
      "#buttonClick:#UIButton#UIButton[0]#UIView[2]#ViewController#...#UIApplication#AppDelegate",
      true
    ),
    (
      "#buttonClick:#UIButton#UIButton[0]#UIView[0]#ViewController#...#UIApplication#AppDelegate",
      false
    ),
    ("#buttonClick:#UIButton#...", true),
    ("#buttonClick:#...", true),
    ("#*:#...", true),
    ("#button*:#...#AppDelegate", true),
    ("#switch:#...", false),
    ("#buttonClick:#UIButton", false),
    ("#buttonClick:#UIButton#UIButton[*]#UIView[*]#ViewController#...", true),
    ("#buttonClick:#UIButton[*]#...", false),
    ("#buttonClick:#*#*#*#*#*#*#*", true),
    ("#buttonClick:#*#*#*#*#*#*", false),
    ("#buttonClick:#...#*[0]#UIApplication#...", true),
    ("#buttonClick:#...#*[1]#...", false),
    ("#buttonClick:#...#View*#...#App*", true),
    ("#buttonClick:#...#ViewController", false),
    ("#buttonClick:#...#AppDelegate#...", true),
    ("#buttonClick:#...#UIButton#...#UIButton[0]#...", true),
    ("#buttonClick:#...#UIButton#UIButton#...", false),
    ("#buttonClick:#UIButton#UIButton#...", false),
    ("#buttonClick:#...#state=1", true),
    ("#buttonClick:#...#enabled=1#state=1", true),
    ("#buttonClick:#...#state=0", false),
    ("#buttonClick:#...#currentTitle=Buy*", true),
    ("#buttonClick:#...#currentTitle=Buy\\*", false),
    ("#buttonClick:#...#selected=*", false),
  ])
  func `S3.8 a pattern means paths by wildcards for responders, indexes and state`(
    _ pattern: String, _ isMatch: Bool
  ) throws {
    let pattern = try EventPathPattern(parsing: pattern)
    let path = try EventPath(parsing: Self.path)
    #expect(pattern.matches(path) == isMatch)
    #expect(Reference.matches(pattern.text, path) == isMatch)
  }

  @Test func `the first pattern that means a path wins`() throws {
    let matcher = EventPathMatcher(
      try ["#a:#b#c#x=1", "#a:#...", "#a:#b#c", "#a:#b#*"].map(EventPathPattern.init(parsing:)))
    #expect(matcher.firstMatch(try EventPath(parsing: "#a:#b#c")) == 1)
    #expect(matcher.firstMatch(try EventPath(parsing: "#a:#b#c#x=1")) == 0)
    #expect(matcher.firstMatch(try EventPath(parsing: "#z:#b")) == nil)
    #expect(EventPathMatcher([]).firstMatch(try EventPath(parsing: "#a:#b")) == nil)
  }

  @Test(arguments: 0..<8)
  func `many patterns at once answer as each by itself does`(_ seed: Int) throws {
    var random = SeededRandom(seed: UInt64(seed))
    let names = ["A", "B", "AB", "*", "A*", "*B", "..."]
    func pick(_ list: [String]) -> String { list.randomElement(using: &random) ?? "A" }
    func segments(_ names: [String], _ indexes: [String], _ count: Int) -> String {
      (0..<count).map { _ in
        let name = pick(names)
        return "#" + name + (name == "..." ? "" : pick(indexes))
      }.joined()
    }
    let patterns = try (0..<60).map { _ in
      try EventPathPattern(
        parsing: "#" + pick(["t", "u", "*"]) + ":"
          + segments(names, ["", "[0]", "[*]", "[1]"], Int.random(in: 1...5, using: &random))
          + pick(["", "", "#s=1", "#s=*", "#r=2#s=1"]))
    }
    let matcher = EventPathMatcher(patterns)
    for _ in 0..<100 {
      let path = try EventPath(
        parsing: "#" + pick(["t", "u"]) + ":"
          + segments(
            ["A", "B", "AB", "C"], ["", "[0]", "[1]"], Int.random(in: 1...6, using: &random))
          + pick(["", "#s=1", "#s=2", "#r=2#s=1"]))
      let expected = patterns.firstIndex { Reference.matches($0.text, path) }
      #expect(matcher.firstMatch(path) == expected, "\(path)")
    }
  }

  @Test func `thousands of patterns cost one look and a hostile one does not blow up`() throws {
    var patterns: [EventPathPattern] = []
    for number in 0..<5000 {
      patterns.append(
        try EventPathPattern(
          parsing: "#buttonClick:#...#Screen\(number)Controller#...#UIApplication#AppDelegate"))
    }
    // Twenty gaps over equal names: trying one after the other would take longer than we live.
    let gaps = String(repeating: "#...#V", count: 20)
    patterns.append(try EventPathPattern(parsing: "#buttonClick:\(gaps)#...#Never"))
    let matcher = EventPathMatcher(patterns)
    let plain = EventPath(
      action: "buttonClick", sender: "UIButton",
      chain: [
        .init("UIButton", index: 1), .init("Screen4711Controller"), .init("UIApplication"),
        .init("AppDelegate"),
      ])
    let hostile = EventPath(
      action: "buttonClick", sender: "V",
      chain: repeatElement(EventPath.Segment("V"), count: 200))
    let clock = ContinuousClock()
    let time = clock.measure {
      for _ in 0..<100 {
        #expect(matcher.firstMatch(plain) == 4711)
        #expect(matcher.firstMatch(hostile) == nil)
      }
    }
    // Milliseconds a pair would already be a scan of all patterns or worse.
    #expect(time.nanoseconds < Sanitizer.patience(.seconds(20)))
  }
}

/// The rules as plainly as they can be written, one pattern at a time.
private enum Reference {
  static func matches(_ pattern: String, _ path: EventPath) -> Bool {
    // The test's patterns have no escapes but `\*`, so splitting is enough.
    let parts = pattern.dropFirst().split(separator: ":", maxSplits: 1)
    guard parts.count == 2, glob(parts[0], path.action[...]) else { return false }
    let pieces = parts[1].split(separator: "#").map(String.init)
    let state = pieces.filter { $0.contains("=") }
    return segments(pieces.filter { !$0.contains("=") }[...], path.segments[...])
      && state.allSatisfy { condition in
        let pair = condition.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        return path.state.contains { $0.name == pair[0] && glob(pair[1], $0.value[...]) }
      }
  }

  private static func segments(
    _ rules: ArraySlice<String>, _ segments: ArraySlice<EventPath.Segment>
  ) -> Bool {
    guard let rule = rules.first else { return segments.isEmpty }
    if rule == "..." {
      return (segments.startIndex...segments.endIndex).contains {
        self.segments(rules.dropFirst(), segments[$0...])
      }
    }
    guard let segment = segments.first else { return false }
    return one(rule, segment) && self.segments(rules.dropFirst(), segments.dropFirst())
  }

  private static func one(_ rule: String, _ segment: EventPath.Segment) -> Bool {
    if rule == "*" { return true }
    let parts = rule.dropLast(rule.hasSuffix("]") ? 1 : 0).split(separator: "[")
    guard glob(parts[0], segment.name[...]) else { return false }
    guard parts.count == 2 else { return segment.index == nil }
    return parts[1] == "*" ? segment.index != nil : segment.index == Int(parts[1])
  }

  private static func glob(_ rule: Substring, _ text: Substring) -> Bool {
    guard let first = rule.first else { return text.isEmpty }
    if first == "*" {
      return glob(rule.dropFirst(), text) || (!text.isEmpty && glob(rule, text.dropFirst()))
    }
    let literal = first == "\\" ? rule.dropFirst() : rule
    return literal.first == text.first && glob(literal.dropFirst(), text.dropFirst())
  }
}
