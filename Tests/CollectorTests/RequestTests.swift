import BusClient
import Compression
import HTTPServer
import Primitives
import Testing

@testable import Collector

/// Bodies, keys and limits, before anything is decoded.
struct RequestTests {
  private static let body = #"[{"event":"A"}]"#

  private func gzip(_ text: String) throws -> [UInt8] {
    let bytes = Array(text.utf8)
    var packed: [UInt8] = []
    try unsafe Gzip.compress(bytes.span.bytes, into: &packed)
    return packed
  }

  private func packed(_ bytes: [UInt8], _ encoding: String = "gzip") -> HTTPRequest {
    HTTPRequest(
      method: "POST", path: "/v1/events", headers: [.init("content-encoding", encoding)],
      body: bytes)
  }

  @Test func `gzip is unpacked, in several members too`() throws {
    var core = try makeCore()
    #expect(try core.verdicts(packed(gzip(Self.body))).codes == ["STORED"])
    let halves = try gzip("[{\"event\"") + gzip(":\"A\"}]") + gzip("")
    #expect(try core.verdicts(packed(halves)).codes == ["STORED"])
  }

  @Test func `damaged and cut gzip is 400, a bomb 413, another encoding 415`() throws {
    var core = try makeCore(limit: 100_000)
    let whole = try gzip(Self.body)
    let bomb = try gzip("[" + String(repeating: " ", count: 100_000) + "]")
    #expect(bomb.count < 1000)
    for (request, status) in [
      (packed(Array(whole.dropLast(3))), 400), (packed(Array("no gzip".utf8)), 400),
      (packed(whole + [1, 2, 3]), 400), (packed([]), 400), (packed(bomb), 413),
      (packed(whole, "br"), 415),
    ] {
      let failure = #expect(throws: RequestFailure.self) { try core.verdicts(request) }
      #expect(failure?.status == UInt32(status))
    }
    #expect(try core.verdicts(packed(Array(Self.body.utf8), "identity")).codes == ["STORED"])
  }

  @Test func `a byte-order mark is skipped, UTF-16 is refused by name`() throws {
    var core = try makeCore()
    let marked = [0xEF, 0xBB, 0xBF] + Array(Self.body.utf8)
    #expect(
      try core.verdicts(HTTPRequest(method: "POST", path: "/v1/events", body: marked)).accepted == 1
    )
    let wide = [0xFF, 0xFE] + Array("[\0]\0".utf8)
    let failure = #expect(throws: RequestFailure.self) {
      try core.verdicts(HTTPRequest(method: "POST", path: "/v1/events", body: wide))
    }
    #expect(failure?.reason.contains("UTF-16") == true)
  }

  /// Keys `one` and `two`, by each way in which a client can show one.
  @Test(arguments: [
    ("Basic b25lOg==", "", "", true), ("basic  dHdvOnNlY3JldA==", "", "", true),
    ("Basic b25l", "", "", true), ("Basic dGhyZWU6", "", "", false), ("Basic !", "", "", false),
    ("Bearer one", "", "", false), ("", "writeKey", "", true), ("", "write_key", "", true),
    ("", "", #","writeKey":"two""#, true), ("", "", #","writeKey":"three""#, false),
    ("", "", #","writeKey":7"#, false), ("", "", "", false),
    ("Basic dGhyZWU6", "", #","writeKey":"two""#, false),
  ])
  func `a key is asked for`(
    _ header: String, _ parameter: String, _ member: String, _ isGood: Bool
  ) throws {
    var core = try makeCore(keys: ["one", "two"])
    let request = HTTPRequest(
      method: "POST", path: "/v1/batch",
      query: parameter.isEmpty ? [] : [.init(parameter, "one")],
      headers: header.isEmpty ? [] : [.init("Authorization", header)],
      body: Array("{\"batch\":[{\"event\":\"A\",\"userId\":\"u\"}]\(member)}".utf8))
    if isGood {
      #expect(try core.verdicts(request).codes == ["STORED"])
    } else {
      let failure = #expect(throws: RequestFailure.self) { try core.verdicts(request) }
      #expect(failure == .unauthorized)
    }
  }

  @Test func `who shows no key does not learn what is wrong with the body`() throws {
    var core = try makeCore(keys: ["one"])
    let failure = #expect(throws: RequestFailure.self) { try core.verdicts("/v1/batch", "{") }
    #expect(failure == .unauthorized)
  }

  @Test(arguments: [
    ("/v1/track", true), ("/v1/track/", true), ("/v1/tracks", false), ("/", false), ("", false),
    ("/V1/track", false), ("/v1/b", true), ("/import", true), ("/v1//track", false),
  ])
  func `a path is one of the routes or none`(_ path: String, _ isRoute: Bool) {
    #expect((CollectorRoute.named(path) != nil) == isRoute)
  }
}
