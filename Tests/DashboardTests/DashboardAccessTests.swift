internal import Dashboard
internal import HTTPServer
internal import Testing

/// Who may look.
@Suite struct DashboardAccessTests {
  private let token = "0123456789abcdef"
  private var guarded: DashboardAccess {
    DashboardAccess(token: token, host: "0.0.0.0", port: 7420)
  }

  private func get(_ path: String, _ headers: [(String, String)] = []) -> HTTPRequest {
    HTTPRequest(
      method: "GET", path: path, headers: headers.map { HTTPRequest.Field($0.0, $0.1) })
  }

  private func login(_ body: String) -> HTTPRequest {
    HTTPRequest(method: "POST", path: "/login", body: Array(body.utf8))
  }

  private func header(_ answer: HTTPResponse?, _ name: String) -> String? {
    answer?.headers.first { $0.name == name }?.value
  }

  @Test(arguments: [
    "localhost", "localhost:7420", "127.0.0.1:7420", "127.0.0.9", "[::1]:7420", "LOCALHOST",
  ])
  func `on loopback a name of the machine itself is let in`(_ host: String) {
    let access = DashboardAccess(token: nil, host: "127.0.0.1", port: 7420)
    #expect(access.answer(get("/", [("Host", host)])) == nil)
  }

  @Test(arguments: [
    "evil.example", "evil.example:7420", "127.0.0.1.evil.example", "localhost.evil.example", "",
    "10.0.0.1", "[::2]", "0.0.0.0",
  ])
  func `on loopback another name is refused, whatever is asked for`(_ host: String) {
    let access = DashboardAccess(token: nil, host: "127.0.0.1", port: 7420)
    for path in ["/", "/api/live", "/metrics"] {
      #expect(access.answer(get(path, [("Host", host)]))?.status == 403)
    }
    #expect(access.answer(get("/healthz", [("Host", host)])) == nil)
  }

  @Test func `what sends no name is no browser and is let in`() {
    #expect(DashboardAccess(token: nil, host: "::1", port: 1).answer(get("/")) == nil)
  }

  @Test func `who has no token sees the login page and nothing else`() {
    #expect(header(guarded.answer(get("/")), "Location") == "/login")
    for path in ["/login", "/style.css", "/icon.svg", "/healthz", "/readyz"] {
      #expect(guarded.answer(get(path)) == nil, "\(path)")
    }
    for path in ["/app.js", "/api/live", "/api/reports", "/metrics", "/status", "/nothing"] {
      let answer = guarded.answer(get(path))
      #expect(answer?.status == 401 && header(answer, "WWW-Authenticate") == "Bearer", "\(path)")
    }
  }

  @Test func `the token lets in as bearer, and nothing like it does`() {
    #expect(guarded.answer(get("/api/reports", [("Authorization", "Bearer \(token)")])) == nil)
    #expect(guarded.answer(get("/api/reports", [("authorization", "bearer \(token)")])) == nil)
    for wrong in [
      "Bearer \(token)0", "Bearer \(token.dropLast())", "Bearer ", "Basic \(token)", token,
    ] {
      #expect(guarded.answer(get("/api/reports", [("Authorization", wrong)]))?.status == 401)
    }
  }

  @Test func `after a login the cookie lets in, and tells nothing of the token`() throws {
    let answer = guarded.answer(login("other=1&token=\(token)"))
    #expect(answer?.status == 303 && header(answer, "Location") == "/")
    let cookie = try #require(header(answer, "Set-Cookie"))
    #expect(cookie.contains("; HttpOnly") && cookie.contains("; SameSite=Strict"))
    #expect(cookie.hasPrefix("eventbus-7420=") && !cookie.contains(token))
    let pair = String(cookie.prefix { $0 != ";" })
    #expect(guarded.answer(get("/api/live", [("Cookie", "a=b; \(pair)")])) == nil)
    #expect(guarded.answer(get("/api/live", [("Cookie", pair + "0")]))?.status == 401)
    let other = DashboardAccess(token: token + "x", host: "0.0.0.0", port: 7420)
    #expect(other.answer(get("/api/live", [("Cookie", pair)]))?.status == 401)
  }

  @Test(arguments: ["", "token=", "token=wrong", "tok=0123456789abcdef", "token=%zz", "token=%"])
  func `a wrong login gives no cookie`(_ body: String) {
    let answer = guarded.answer(login(body))
    #expect(header(answer, "Location") == "/login#wrong" && header(answer, "Set-Cookie") == nil)
  }

  @Test func `a token with any characters can be typed into the form`() {
    let odd = "pass word+&=%é 0123456789"
    let access = DashboardAccess(token: odd, host: "0.0.0.0", port: 1)
    let answer = access.answer(login("token=pass+word%2B%26%3D%25%C3%A9%200123456789"))
    #expect(header(answer, "Location") == "/")
  }

  @Test func `a logout takes the cookie away`() throws {
    let answer = guarded.answer(HTTPRequest(method: "POST", path: "/logout"))
    #expect(try #require(header(answer, "Set-Cookie")).contains("Max-Age=0"))
  }
}
