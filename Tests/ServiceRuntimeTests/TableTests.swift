@testable import ServiceRuntime
import Testing

@Suite struct TableTests {
  @Test func `columns align by the width of the terminal`() {
    var table = Table([.init("name"), .init("events", .right), .init("note")])
    table.append(["Signed Up", "12", ""])
    table.append(["日本", "1234567", "a\nb"])
    #expect(
      table.text == """
        NAME        EVENTS  NOTE
        Signed Up       12
        日本       1234567  a\\nb

        """)
  }

  @Test func `a very long cell is cut`() {
    var table = Table([.init("n")])
    table.append([String(repeating: "x", count: 500)])
    #expect(table.text.split(separator: "\n")[1] == String(repeating: "x", count: 59) + "…")
  }

  @Test(arguments: [
    (50, Int?.some(100), "load ████████████░░░░░░░░░░░░ 50%  50/100  25/s  3 s left"),
    (100, 100, "load ████████████████████████ 100%  100/100  50/s"),
    (1_234_567, nil, "load 1 234 567  617 283/s"),
    (0, 0, "load 0  0/s"),
  ])
  func `progress is told in one line`(done: Int, total: Int?, line: String) {
    #expect(ProgressText.line("load", done: done, total: total, seconds: 2) == line)
  }

  @Test func `lines are cut where they end, and where they are too long`() {
    var splitter = LineSplitter()
    #expect(splitter.append(Array("a\r\nb".utf8)) == ["a"])
    #expect(splitter.append(Array("c\n\n".utf8)) == ["bc", ""])
    #expect(splitter.finish() == nil)
    let long = [UInt8](repeating: 0x78, count: LineSplitter.maximumLine + 5)
    #expect(splitter.append(long).map(\.utf8.count) == [LineSplitter.maximumLine])
    #expect(splitter.finish() == "xxxxx")
  }
}
