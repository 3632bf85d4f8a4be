import Destinations
import HTTPClient
import Primitives
import Testing

/// What destinations say in words that all of them use.
struct RetryAfterTests {
  /// 2026-11-30T10:00:00Z.
  static let now = Timestamp(nanoseconds: 1_796_032_800_000_000_000)

  @Test(arguments: [
    (nil, nil), ("5", Duration.seconds(5)), (" 120 ", .seconds(120)), ("0", .zero),
    ("1.5", .milliseconds(1500)), ("-3", nil), ("1e9", nil), ("1000000000", .seconds(3600)),
    ("99999999999999999999", .seconds(3600)), ("", nil), ("soon", nil), ("nan", nil),
    ("Mon, 30 Nov 2026 10:00:07 GMT", .seconds(7)),
    ("Monday, 30-Nov-26 10:00:07 GMT", .seconds(7)), ("Mon Nov 30 10:00:07 2026", .seconds(7)),
    ("Mon, 30 Nov 2026 09:00:00 GMT", .zero), ("Sun, 06 Nov 1994 08:49:37 GMT", .zero),
    ("Fri, 31 Dec 9999 23:59:59 GMT", .seconds(3600)), ("Mon, 30 Foo 2026 10:00:07 GMT", nil),
    ("Mon, 30 Nov 2026 10:00:07 CET", nil), ("Mon, 30 Nov 2026 25:00:07 GMT", nil),
  ])
  func `it is seconds or a date, and never absurd`(_ text: String?, _ wait: Duration?) {
    #expect(RetryAfter.duration(text, at: Self.now) == wait)
  }

  @Test(arguments: [
    (200, "delivered"), (204, "delivered"), (400, "split"), (401, "configuration"),
    (403, "configuration"), (404, "configuration"), (408, "retry"), (410, "retry"),
    (413, "tooLarge"), (422, "split"), (429, "pause"), (460, "retry"), (500, "retry"),
    (501, "configuration"), (503, "retry"), (511, "configuration"), (301, "configuration"),
  ])
  func `a status means the same for every provider`(_ status: Int, _ verdict: String) {
    let word = "\(DeliveryVerdict.standard(HTTPReply(status: status), at: Self.now))"
    #expect(word.hasPrefix(verdict), "\(word)")
  }

  @Test func `a page with status 200 is no delivery, and its tags are not shown`() {
    let page = Array("<html><head><title>Bad\u{1B}[31m</title></head>\n<body>Gateway</body>".utf8)
    let verdict = DeliveryVerdict.standard(HTTPReply(status: 200, body: page), at: Self.now)
    guard case .retry(let reason) = verdict else {
      Issue.record("\(verdict)")
      return
    }
    #expect(reason.contains("Bad [31m Gateway"))
  }

  @Test func `foreign text is one line of bounded length`() {
    #expect(CleanText.clean(" a\n\tb\u{202E}c\u{0}  ") == "a b c")
    let long = CleanText.clean(String(repeating: "\u{1F3AE}", count: 200), limit: 100)
    #expect(long.utf8.count <= 103)
    #expect(long.hasSuffix("..."))
  }
}
