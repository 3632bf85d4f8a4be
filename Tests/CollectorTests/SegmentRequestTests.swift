import BusClient
import EventModel
import HTTPServer
import Primitives
import Testing

@testable import Collector

/// What becomes of events in Segment's form.
struct SegmentRequestTests {
  @Test func `one bad event does not sink the others`() throws {
    var core = try makeCore()
    let deep = String(repeating: "[", count: 20_000) + String(repeating: "]", count: 20_000)
    let verdicts = try core.verdicts(
      "/v1/batch",
      """
      {"batch":[{"event":"A","userId":"u","messageId":"0"},{"event":"","userId":"u","messageId":"1"},
      "text",null,{"event":"B","messageId":"4"},{"event":"C","userId":"u","properties":"x"},
      {"event":"D","userId":"u","userId":"v"},{"event":"E","userId":"u","properties":{"a":\(deep)}},
      {"event":"F","userId":"u","properties":{"big":"\(String(repeating: "x", count: 300_000))"}},
      {"event":"G","userId":"u","n":1e999},{"event":"H","anonymousId":7,"messageId":"last"}]}
      """)
    #expect(
      verdicts.codes == [
        "STORED", "BAD_NAME", "BAD_PAYLOAD", "BAD_PAYLOAD", "NO_IDENTITY", "BAD_PAYLOAD",
        "BAD_PAYLOAD", "BAD_PAYLOAD", "TOO_LARGE", "BAD_PAYLOAD", "STORED",
      ])
    #expect(verdicts.messageIDs[1] == "1" && verdicts.messageIDs[4] == "4")
    #expect(try verdicts.envelopes().map(\.event) == ["A", "H"])
  }

  @Test func `text that is not UTF-8 is refused alone`() throws {
    var core = try makeCore()
    var body = Array("[{\"event\":\"A\"},{\"event\":\"B\",\"x\":\"".utf8)
    body += [0xC3]
    body += Array("\"},{\"event\":\"C\"}]".utf8)
    let verdicts = try core.verdicts(HTTPRequest(method: "POST", path: "/v1/events", body: body))
    #expect(verdicts.codes == ["STORED", "BAD_PAYLOAD", "STORED"])
  }

  @Test(arguments: [
    ("/v1/track", "A"), ("/v1/identify", "$identify"), ("/v1/page", "$page"),
    ("/v1/screen", "$screen"), ("/v1/group", "$group"), ("/v1/t/", "A"), ("/v1/i", "$identify"),
  ])
  func `a route gives its events their type`(_ path: String, _ topic: String) throws {
    var core = try makeCore()
    let verdicts = try core.verdicts(path, #"{"event":"A","userId":"u"}"#)
    #expect(try verdicts.envelopes().map(\.topic) == [topic])
    #expect(verdicts.codes == ["STORED"])
  }

  @Test func `an alias needs both ids`() throws {
    var core = try makeCore()
    #expect(try core.verdicts("/v1/alias", #"{"userId":"a"}"#).codes == ["NO_IDENTITY"])
    let good = try core.verdicts("/v1/alias", #"{"userId":"a","previousId":"b"}"#)
    #expect(try good.envelopes().map(\.topic) == ["$alias"])
  }

  @Test func `a plain list needs no identity`() throws {
    var core = try makeCore()
    let verdicts = try core.verdicts(
      "/v1/events",
      #"[{"event":"A","timestamp":"2026-11-30T09:00:00.000Z","properties":{"n":1}}]"#)
    let event = try #require(verdicts.envelopes().first)
    #expect(event.receivedAt == Timestamp(nanoseconds: arrival))
    #expect(event.timestamp?.text == "2026-11-30T09:00:00.000Z")
    #expect(event.properties?["n"] == 1)
  }

  @Test func `context and integrations of the batch go into each event, whose own win`() throws {
    var core = try makeCore()
    let verdicts = try core.verdicts(
      "/v1/batch",
      """
      {"context":{"ip":"1.2.3.4","app":{"v":1}},"integrations":{"All":false},"batch":[
      {"event":"A","userId":"u"},{"event":"B","userId":"u","context":{"app":2,"os":"x"}},
      {"event":"C","userId":"u","context":null,"integrations":{"All":true}}]}
      """)
    let events = try verdicts.envelopes()
    #expect(events[0][.context] == ["ip": "1.2.3.4", "app": ["v": 1]])
    #expect(events[1][.context] == ["app": 2, "os": "x", "ip": "1.2.3.4"])
    #expect(events[2][.context] == ["ip": "1.2.3.4", "app": ["v": 1]])
    #expect(events.map { $0[.integrations] } == [["All": false], ["All": false], ["All": true]])
  }

  @Test func `a context of the batch that cannot be used is told`() throws {
    var core = try makeCore()
    for context in ["5", "[]", #"{"a":1,"a":2}"#] {
      #expect(throws: RequestFailure.self) {
        try core.verdicts("/v1/batch", "{\"context\":\(context),\"batch\":[]}")
      }
    }
  }

  @Test func `write keys within events are not kept`() throws {
    var core = try makeCore()
    let verdicts = try core.verdicts(
      "/v1/batch",
      #"{"batch":[{"event":"A","userId":"u","writeKey":"secret","other":1}],"writeKey":"secret"}"#)
    let event = try #require(verdicts.envelopes().first)
    #expect(event.others == PropertyObject([.init("other", 1)]))
    #expect(!String(decoding: verdicts.events.payloads, as: UTF8.self).contains("secret"))
  }

  @Test func `events without an id each get one`() throws {
    var core = try makeCore()
    let verdicts = try core.verdicts(
      "/v1/events", #"[{"event":"A"},{"event":"A","messageId":""},{"event":"A","messageId":null}]"#)
    #expect(Set(verdicts.messageIDs).count == 3)
    #expect(verdicts.messageIDs.allSatisfy { $0.utf8.count == 36 })
  }

  @Test func `ids are kept byte for byte up to a length, and refused beyond it`() throws {
    var core = try makeCore()
    let odd = #"  \u0000 é \" / ../ 💥 "#
    let long = String(repeating: "m", count: 256)
    let verdicts = try core.verdicts(
      "/v1/events",
      """
      [{"event":"A","messageId":"\(odd)"},{"event":"A","messageId":"\(long)"},
      {"event":"A","messageId":"\(long)m"},{"event":"A","messageId":7}]
      """)
    #expect(verdicts.codes == ["STORED", "STORED", "BAD_PAYLOAD", "BAD_PAYLOAD"])
    #expect(try verdicts.envelopes()[0].messageId == "  \0 é \" / ../ 💥 ")
    #expect(try verdicts.envelopes()[1].messageId == long)
  }

  @Test func `every event has a verdict however the body is damaged`() throws {
    var core = try makeCore()
    let good = Array(
      #"[{"event":"A","properties":{"n":[1,{"b":"ü\n"}]}},{"event":"B","userId":"u"},7]"#.utf8)
    var random = SeededRandom(seed: 7)
    for _ in 0..<5000 {
      var body = good
      for _ in 0..<Int(random.next() % 4) {
        body[Int(random.next() % UInt64(body.count))] = UInt8(truncatingIfNeeded: random.next())
      }
      if random.next() % 3 == 0 { body.removeLast(Int(random.next() % UInt64(body.count))) }
      do {
        let verdicts = try core.verdicts(
          HTTPRequest(method: "POST", path: "/v1/events", body: body))
        #expect(verdicts.accepted == verdicts.events.count)
        #expect(try verdicts.envelopes().count == verdicts.accepted)
        #expect(SegmentAnswer.results(verdicts).status == 200)
      } catch let failure as RequestFailure {
        #expect(failure.status == 400)
      }
    }
  }
}
