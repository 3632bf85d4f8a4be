internal import Dashboard
internal import HTTPServer
internal import Testing

/// The files of the page.
@Suite struct DashboardAssetsTests {
  private let assets = DashboardAssets(chartLibrary: Array("chart()".utf8))

  private func get(_ path: String, tag: String? = nil) -> HTTPRequest {
    HTTPRequest(
      method: "GET", path: path,
      headers: tag.map { [HTTPRequest.Field("If-None-Match", $0)] } ?? [])
  }

  private func header(_ answer: HTTPResponse?, _ name: String) -> String? {
    answer?.headers.first { $0.name == name }?.value
  }

  /// Words between a prefix and a quote.
  private func words(_ text: String, after prefix: String) -> [String] {
    text.split(separator: prefix, omittingEmptySubsequences: false).dropFirst()
      .map { String($0.prefix { $0 != "\"" }) }
  }

  private func text(_ path: String) throws -> String {
    String(decoding: try #require(assets.answer(get(path))).body, as: UTF8.self)
  }

  @Test func `everything that the pages name is there, and from here`() throws {
    for page in ["/", "/login"] {
      let html = try text(page)
      for path in words(html, after: "src=\"") + words(html, after: "href=\"")
      where !path.hasPrefix("#") {
        #expect(path.hasPrefix("/") && assets.answer(get(path))?.status == 200, "\(path)")
      }
    }
  }

  @Test func `everything that the scripts import is there`() throws {
    var waiting = ["/app.js"]
    var seen: Set<String> = []
    while let path = waiting.popLast() {
      guard seen.insert(path).inserted else { continue }
      waiting += words(try text(path), after: "from \"./").map { "/\($0)" }
    }
    #expect(seen.count == 10, "\(seen.sorted())")
  }

  @Test func `no page has script, style or handlers in itself`() throws {
    for page in ["/", "/login"] {
      let html = try text(page).lowercased()
      #expect(
        !html.contains("<style") && !html.contains(" style=") && !html.contains("javascript:"))
      #expect(html.split(separator: "<script").dropFirst().allSatisfy { $0.hasPrefix(" src=") })
      #expect(!html.contains(" onclick") && !html.contains(" onload"))
    }
  }

  @Test func `no file names another machine, and no script makes markup of texts`() throws {
    let paths = [
      "/", "/login", "/style.css", "/app.js", "/dom.js", "/format.js", "/source.js",
      "/charts.js", "/period.js", "/live.js", "/overview.js", "/reports.js", "/health.js",
    ]
    for path in paths {
      let text = try text(path).replacing("http://127.0.0.1:7410", with: "")
        .replacing("http://www.w3.org/2000/svg", with: "")
      #expect(!text.contains("http://") && !text.contains("https://"), "\(path)")
      #expect(!text.contains("innerHTML") && !text.contains("eval("), "\(path)")
    }
  }

  @Test func `each file has its type, a policy, and a tag by which it is not sent again`() throws {
    for (path, type) in [
      ("/", "text/html"), ("/app.js", "text/javascript"), ("/chart.js", "text/javascript"),
      ("/style.css", "text/css"), ("/icon.svg", "image/svg+xml"),
    ] {
      let answer = try #require(assets.answer(get(path)))
      #expect(answer.contentType.hasPrefix(type))
      #expect(header(answer, "X-Content-Type-Options") == "nosniff")
      let policy = try #require(header(answer, "Content-Security-Policy"))
      #expect(policy.contains("default-src 'none'") && !policy.contains("unsafe"))
      let tag = try #require(header(answer, "ETag"))
      let again = assets.answer(get(path, tag: tag))
      #expect(again?.status == 304 && again?.body.isEmpty == true)
      #expect(assets.answer(get(path, tag: "\"other\""))?.status == 200)
    }
  }

  @Test func `without the library its path is nobody's, and other paths are left to others`() {
    #expect(DashboardAssets(chartLibrary: nil).answer(get("/chart.js")) == nil)
    #expect(assets.answer(get("/api/reports")) == nil && assets.answer(get("/index.html")) == nil)
    #expect(assets.answer(HTTPRequest(method: "POST", path: "/"))?.status == 405)
  }
}
