import ServiceRuntime
import Testing

@Suite struct OutputTextTests {
  @Test(arguments: [
    ("plain é 日本", "plain é 日本"), ("a\nb\tc\r", "a\\nb\\tc\\r"), ("\u{1B}[2J", "\\u{1B}[2J"),
    ("\u{9B}31m", "\\u{9B}31m"), ("\u{7F}\u{0}", "\\u{7F}\\u{0}"), ("a\u{202E}b", "a\\u{202E}b"),
  ])
  func `what could steer a terminal is made visible`(text: String, shown: String) {
    #expect(TerminalText.escape(text) == shown)
  }

  @Test(arguments: [("abc", 3), ("日本", 4), ("e\u{301}", 1), ("👩‍👩‍👧", 2), ("é", 1), ("", 0)])
  func `width counts columns of the terminal`(text: String, width: Int) {
    #expect(TerminalText.width(text) == width)
  }

  @Test(arguments: [("abcdef", 4, "abc…"), ("日本語", 4, "日…"), ("abc", 3, "abc"), ("abc", 0, "")])
  func `long text is cut at the column`(text: String, columns: Int, cut: String) {
    #expect(TerminalText.truncate(text, columns: columns) == cut)
  }

  static let values: [(JSONText, String)] = [
    (.null, "null"), (true, "true"), (.integer(.min), "-9223372036854775808"), (0.1, "0.1"),
    (.double(.nan), "null"), (.double(-.infinity), "null"), (1e300, "1e+300"),
    ("a\"\\\n\u{1B}é\u{9B}", #""a\"\\\n\u001bé\u009b""#), ([], "[]"), (.object([]), "{}"),
    (
      ["read": 3, "rate": 2.5, "list": [1, "x", .null]],
      #"{"read":3,"rate":2.5,"list":[1,"x",null]}"#
    ),
  ]

  @Test(arguments: values)
  func `JSON is written`(value: JSONText, text: String) {
    #expect(value.description == text)
  }

  @Test func `a ready line is read back as it was written`() {
    let line = ReadyLine([("bus", "tcp://127.0.0.1:7400"), ("live", "ipc://@a=b")])
    #expect(line.description == "ready bus=tcp://127.0.0.1:7400 live=ipc://@a=b")
    #expect(ReadyLine(line: line.description) == line)
    #expect(line["live"] == "ipc://@a=b")
    // A folder can have any name.
    let odd = ReadyLine([("dir", "/data/my \"own\"\n100% Zürich"), ("end", "x%")])
    #expect(!odd.description.contains("\n") && odd.description.split(separator: " ").count == 3)
    #expect(ReadyLine(line: odd.description) == odd)
    #expect(ReadyLine(line: "ready")?.addresses.isEmpty == true)
    #expect(ReadyLine(line: "already bus=x") == nil)
  }
}
