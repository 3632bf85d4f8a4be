import EventModel
import Primitives
import Testing

/// Tests of paths and their text (S3.1, S3.2, S3.3).
@Suite struct EventPathTests {
  static let button =
    "#buttonClick:#UIButton#UIButton[0]#UIView[0]#ViewController#UIWindow[0]#UIApplication#AppDelegate"

  private static func chain() -> [EventPath.Segment] {
    [
      .init("UIButton", index: 0), .init("UIView", index: 0), .init("ViewController"),
      .init("UIWindow", index: 0), .init("UIApplication"), .init("AppDelegate"),
    ]
  }

  @Test func `S3.1 a path is the action and the responder chain with indexes among siblings`() {
    let path = EventPath(action: "buttonClick", sender: "UIButton", chain: Self.chain())
    #expect(path.text == Self.button)
    #expect(path.segments.map(\.index) == [nil, 0, 0, nil, 0, nil, nil])
  }

  @Test func `S3.2 state is appended as name and value`() {
    let path = EventPath(
      action: "buttonClick", sender: "UIButton", chain: Self.chain(),
      state: [
        .init("currentTitle", "Button"), .init("state", "1"), .init("enabled", "1"),
        .init("selected", "0"),
      ])
    #expect(path.text == Self.button + "#currentTitle=Button#state=1#enabled=1#selected=0")
    #expect(path.value(of: "enabled") == "1")
  }

  @Test func `S3.3 a parameter with an address in it is appended and read back`() throws {
    let url = "https://shop.example/a?b=1&c[]=2#top\\"
    let path = EventPath(
      action: "tap", sender: "UITapGestureRecognizer", chain: [.init("Banner", index: 2)],
      state: [.init("url", url)])
    #expect(
      path.text
        == "#tap:#UITapGestureRecognizer#Banner[2]#url=https://shop.example/a?b\\=1&c\\[]\\=2\\#top\\\\"
    )
    #expect(try EventPath(parsing: path.text) == path)
    #expect(try EventPath(parsing: path.text).value(of: "url") == url)
  }

  @Test(arguments: [
    EventPathTests.button, EventPathTests.button + "#currentTitle=Button#state=1",
    "#a:#b", "#a\\:b:#c\\#d[7]#e\\[f#g\\=h\\*#\\...#x=",
    "#tap:#List<Row, [Int]>"
      .replacing("[", with: "\\["), "#ä:#日本[999999999]#ключ=значение",
  ])
  func `text that was printed reads back as the same path`(_ text: String) throws {
    #expect(try EventPath(parsing: text).text == text)
    #expect(EventPath(text)?.description == text)
    #expect(try EventPathPattern(parsing: text).matches(EventPath(parsing: text)))
  }

  @Test(arguments: [
    ("", EventPathError.Reason.noStart, 0), ("a:#b", .noStart, 0), ("#a", .noAction, 0),
    ("#a#b:#c", .noAction, 0), ("#:#b", .emptyName, 1), ("#a:", .noSegment, 3),
    ("#a:b", .noSegment, 3), ("#a:##b", .emptyName, 4), ("#a:#b[", .index, 4),
    ("#a:#b[x]", .index, 4), ("#a:#b[01]", .index, 4), ("#a:#b[1]c", .index, 4),
    ("#a:#b[1234567890]", .index, 4), ("#a:#[1]", .emptyName, 4), ("#a:#b\\", .escape, 6),
    ("#a:#b\\x", .escape, 6), ("#a:#b#c=1#d", .segmentAfterState, 10),
    ("#a:#b#=1", .emptyName, 6), ("#a:#x=1", .noSegment, 7), ("#a:#b*", .wildcard, 4),
    ("#a:#...", .wildcard, 4), ("#a:#b[*]", .wildcard, 4), ("#a:#b\0", .containsNUL, 5),
  ])
  func `what is no path is refused with its place`(
    _ text: String, _ reason: EventPathError.Reason, _ position: Int
  ) {
    let error = #expect(throws: EventPathError.self) { try EventPath(parsing: text) }
    #expect(error?.reason == reason)
    #expect(error?.position == position)
  }

  @Test func `a text beyond the limits is refused`() {
    func reason(_ text: String) -> EventPathError.Reason? {
      #expect(throws: EventPathError.self) { try EventPath(parsing: text) }?.reason
    }
    #expect(reason("#a:" + String(repeating: "#b", count: 129)) == .tooManySegments)
    #expect(reason("#a:#b" + String(repeating: "#c=1", count: 33)) == .tooManyStates)
    #expect(reason("#a:#" + String(repeating: "b", count: 201)) == .tooLong(maximum: 200))
    #expect(reason("#a:#b#c=" + String(repeating: "d", count: 257)) == .tooLong(maximum: 256))
    let long = "#a:" + String(repeating: "#" + String(repeating: "b", count: 99), count: 41)
    #expect(reason(long) == .tooLong(maximum: 4096))
  }

  @Test func `a chain that never ends is cut off at the limit`() throws {
    let endless = repeatElement(EventPath.Segment("UIView", index: 3), count: .max)
    let path = EventPath(action: "tap", sender: "UIView", chain: endless)
    #expect(path.segments.count == EventPathLimits.maximumSegments)
    #expect(try EventPath(parsing: path.text) == path)
  }

  @Test func `whatever is built can be read back`() throws {
    var random = SeededRandom(seed: 6)
    let letters = ["a", "#", "[", "]", "=", "*", "\\", ":", ".", "...", "ä", "\0", "\n", "語"]
    func word(_ most: Int) -> String {
      (0..<Int.random(in: 0...most, using: &random)).reduce(into: "") { text, _ in
        text += letters.randomElement(using: &random) ?? ""
      }
    }
    for _ in 0..<1000 {
      let isLong = Int.random(in: 0..<20, using: &random) == 0
      let chain = (0..<Int.random(in: 0...(isLong ? 200 : 6), using: &random)).map { _ in
        EventPath.Segment(
          word(isLong ? 150 : 5), index: Bool.random(using: &random) ? Int.random(in: -1...12) : nil
        )
      }
      let state = (0..<Int.random(in: 0...(isLong ? 40 : 4), using: &random)).map { _ in
        EventPath.State(word(4), word(isLong ? 300 : 6))
      }
      let path = EventPath(action: word(4), sender: word(4), chain: chain, state: state)
      #expect(path.text.utf8.count <= EventPathLimits.maximumBytes)
      #expect(try EventPath(parsing: path.text) == path)
      #expect(try EventPathPattern(parsing: path.text).matches(path))
      #expect(EventPathPattern(exactly: path).matches(path))
    }
  }

  @Test func `two spellings of one letter are two names`() {
    let a = EventPath(action: "tap", sender: "Caf\u{E9}", chain: [])
    let b = EventPath(action: "tap", sender: "Cafe\u{301}", chain: [])
    #expect(a != b)
    #expect(Set([a, b]).count == 2)
    #expect(!EventPathPattern(exactly: a).matches(b))
  }
}
