import BusClient
import Compression
import EventModel
import Hashing
import HTTPServer
import Primitives
import TestSupport
import Testing

@testable import Collector

/// What becomes of events in Mixpanel's form.
struct MixpanelRequestTests {
  private static let event =
    #"{"event":"Played","properties":{"token":"key","time":1700000000,"distinct_id":"d","$insert_id":"i-1","n":1}}"#

  private func form(_ data: String, _ path: String = "/track", more: String = "") -> HTTPRequest {
    let escaped = data.utf8.map { byte -> String in
      let digits = String(byte, radix: 16, uppercase: true)
      return byte < 16 ? "%0\(digits)" : "%\(digits)"
    }
    return request(
      path, "data=\(escaped.joined())\(more)",
      headers: [.init("Content-Type", "application/x-www-form-urlencoded")])
  }

  @Test func `fields are mapped to the envelope`() throws {
    var core = try makeCore()
    let event = try #require(core.verdicts("/track", Self.event).envelopes().first)
    #expect(event.event == "Played" && event.messageId == "i-1" && event.userId == "d")
    #expect(event.timestamp == Timestamp(nanoseconds: 1_700_000_000_000_000_000))
    #expect(event.properties == PropertyObject([.init("n", 1)]))
    #expect(event.receivedAt == Timestamp(nanoseconds: arrival))
  }

  @Test(
    arguments: [
      (#""distinct_id":"$device:d-1""#, nil, "d-1", [String]()),
      (#""distinct_id":"u","$user_id":"u","$device_id":"d""#, "u", "d", []),
      (#""distinct_id":"$device:d","$device_id":"d""#, nil, "d", []),
      (#""distinct_id":"x","$user_id":"u""#, "u", nil, ["distinct_id"]),
      (#""distinct_id":"""#, nil, nil, []),
    ] as [(String, String?, String?, [String])])
  func `who it is about is told by three properties`(
    _ properties: String, _ user: String?, _ anonymous: String?, _ left: [String]
  ) throws {
    var core = try makeCore()
    let event = try #require(
      core.verdicts("/track", "{\"event\":\"A\",\"properties\":{\(properties)}}").envelopes().first)
    #expect(event.userId == user && event.anonymousId == anonymous)
    #expect(event.properties?.members.map(\.key) == left)
  }

  @Test func `a form carries JSON or base64, one event or several`() throws {
    var core = try makeCore()
    let encoded = Base64.encode(Array("[\(Self.event),\(Self.event)]".utf8))
    #expect(try core.verdicts(form(Self.event)).codes == ["STORED"])
    #expect(try core.verdicts(form(encoded)).codes == ["STORED", "STORED"])
    let bare = request(
      "/track", "verbose=1&data=\(encoded)",
      headers: [.init("Content-Type", "application/x-www-form-urlencoded; charset=utf-8")])
    #expect(try core.verdicts(bare).codes == ["STORED", "STORED"])
    let letters = Base64.encode(Array(#"{"event":"?>?>~~~~üüü","properties":{"time":1}}"#.utf8))
    let safe = letters.replacing("+", with: "-").replacing("/", with: "_")
    #expect(safe != letters)
    #expect(try core.verdicts(form(safe)).codes == ["STORED"])
    #expect(throws: RequestFailure.self) { try core.verdicts(self.form("!!")) }
  }

  @Test func `a strict import says what each event lacks`() throws {
    var core = try makeCore()
    let lines = [
      Self.event, #"{"event":"A","properties":{"distinct_id":"d","$insert_id":"i-2"}}"#,
      #"{"event":"A","properties":{"time":1700000000,"$insert_id":"i-3"}}"#,
      #"{"event":"A","properties":{"time":1700000000,"distinct_id":""}}"#, "{", "",
      #"{"event":"","properties":{}}"#,
    ]
    let request = HTTPRequest(
      method: "POST", path: "/import", headers: [.init("Content-Type", "application/x-ndjson")],
      body: Array(lines.joined(separator: "\n").utf8))
    let verdicts = try core.verdicts(request)
    #expect(
      verdicts.codes == ["STORED"] + Array(repeating: "BAD_PAYLOAD", count: 4) + ["BAD_NAME"])
    let answer = MixpanelAnswer.results(verdicts, .strict)
    let text = String(decoding: answer.body, as: UTF8.self)
    #expect(answer.status == 400)
    #expect(
      text.contains(#""num_records_imported":1,"failed_records":[{"index":1,"insert_id":"i-2","#))
    #expect(text.contains(#""field":"properties.time","message":"'properties.time' is invalid"#))
    let lax = HTTPRequest(
      method: "POST", path: "/import", query: [.init("strict", "0")], body: Array(lines[1].utf8))
    #expect(try core.verdicts(lax).codes == ["STORED"])
  }

  @Test func `the token of an event is its key`() throws {
    var core = try makeCore(keys: ["key"])
    let other = Self.event.replacing("\"token\":\"key\"", with: "\"token\":\"other\"")
    #expect(
      try core.verdicts("/track", "[\(Self.event),\(other)]").codes == ["STORED", "DENIED"])
    #expect(throws: RequestFailure.unauthorized) { try core.verdicts("/track", other) }
    let shown = HTTPRequest(
      method: "POST", path: "/import", headers: [.init("Authorization", "Basic a2V5Og==")],
      body: Array("[\(other)]".utf8))
    #expect(try core.verdicts(shown).codes == ["STORED"])
  }

  @Test func `profiles and groups become identify and group events`() throws {
    var core = try makeCore()
    let profile = try core.verdicts(
      form(
        #"{"$token":"t","$distinct_id":"u","$set":{"name":"Bo"},"$add":{"coins":5}}"#, "/engage"))
    let identify = try #require(profile.envelopes().first)
    #expect(identify.topic == "$identify" && identify.userId == "u")
    #expect(identify[.traits] == ["name": "Bo", "$add": ["coins": 5]])
    let update = try core.verdicts(
      form(
        #"{"$token":"t","$group_key":"company","$group_id":"c","$set":{"plan":"pro"}}"#, "/groups"))
    let group = try #require(update.envelopes().first)
    #expect(group.topic == "$group" && group[.groupId] == "c")
    #expect(group[.traits] == ["$group_key": "company", "plan": "pro"])
  }

  @Test func `thousands of members cost no more than their number`() throws {
    var core = try makeCore()
    let members = (0..<20_000).map { #""\#($0)":1"# }.joined(separator: ",")
    let time = try ContinuousClock().measure {
      let profile = try core.verdicts("/engage", #"{"$distinct_id":"u","$set":{\#(members)}}"#)
      #expect(profile.codes == ["STORED"])
      let event = #"{"event":"A","userId":"u","context":{\#(members)}}"#
      let batch = try core.verdicts(
        "/v1/batch", #"{"batch":[\#(event)],"context":{\#(members)}}"#)
      #expect(batch.codes == ["STORED"])
    }
    // In debug about 4 s; 45 s when each was searched among all others.
    #expect(time.nanoseconds < Sanitizer.patience(.seconds(20)))
  }

  @Test(arguments: ["/track", "/import", "/engage", "/groups"])
  func `every event has a verdict however the body is damaged`(_ path: String) throws {
    var core = try makeCore()
    let good = Array(
      ("[\(Self.event),{\"$distinct_id\":\"d\",\"$group_id\":1,\"$set\":{\"a\":[{}]}},"
        + "{\"event\":\"A\",\"properties\":{\"n\":{\"b\":\"ü\"}}}]").utf8)
    var random = SeededRandom(seed: 11)
    for _ in 0..<2000 {
      var body = good
      for _ in 0..<Int(random.next() % 4) {
        body[Int(random.next() % UInt64(body.count))] = UInt8(truncatingIfNeeded: random.next())
      }
      do {
        let verdicts = try core.verdicts(HTTPRequest(method: "POST", path: path, body: body))
        #expect(verdicts.accepted == verdicts.events.count)
        #expect(try verdicts.envelopes().count == verdicts.accepted)
      } catch let failure as RequestFailure {
        #expect(failure.status == 400)
      }
    }
  }

  @Test func `an image gets one, which no browser keeps`() throws {
    var core = try makeCore()
    let verdicts = try core.verdicts("/track", Self.event)
    let asked = HTTPRequest(method: "GET", path: "/track", query: [.init("img", "1")])
    let answer = MixpanelAnswer.results(
      verdicts, MixpanelBody.style(of: asked, .mixpanelTrack, limit: 1000))
    #expect(answer.contentType == "image/gif" && answer.body.starts(with: "GIF89a".utf8))
    #expect(answer.body.count == 43 && answer.body.last == UInt8(ascii: ";"))
    #expect(answer.headers == [.init("Cache-Control", "no-store")])
  }

  @Test func `answers have the form that was asked for`() throws {
    var core = try makeCore()
    let good = try core.verdicts("/track", Self.event)
    let bad = try core.verdicts("/track", "[\(Self.event),{}]")
    func text(_ verdicts: Verdicts, _ style: MixpanelAnswer.Style) -> String {
      String(decoding: MixpanelAnswer.results(verdicts, style).body, as: UTF8.self)
    }
    #expect(text(good, .plain) == "1" && text(bad, .plain) == "0")
    #expect(text(good, .verbose) == #"{"status":1,"error":null}"#)
    #expect(text(bad, .verbose).hasPrefix(#"{"status":0,"error":"1 stored, 1 not: [1] "#))
    #expect(text(good, .strict) == #"{"code":200,"num_records_imported":1,"status":"OK"}"#)
  }

  @Test(arguments: [false, true])
  func `a form may ask for the verbose answer in its body, packed or not`(_ isPacked: Bool) throws {
    var body = Array("data=%7B%7D&verbose=1".utf8)
    var headers = [HTTPRequest.Field("Content-Type", "application/x-www-form-urlencoded")]
    if isPacked {
      var packed: [UInt8] = []
      try unsafe Gzip.compress(body.span.bytes, into: &packed)
      (body, headers) = (packed, headers + [.init("Content-Encoding", "gzip")])
    }
    let request = HTTPRequest(method: "POST", path: "/track", headers: headers, body: body)
    #expect(MixpanelBody.style(of: request, .mixpanelTrack, limit: 1000) == .verbose)
    // What is too large to be unpacked is refused in the plain form.
    let isRead = MixpanelBody.style(of: request, .mixpanelTrack, limit: 5) == .verbose
    #expect(isRead == !isPacked)
  }
}
