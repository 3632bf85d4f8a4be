import BusClient
import EventModel
import Hashing
import Primitives
import Testing

@testable import Collector

/// What is dropped and hashed before anything is stored, and what is wrong with a rules file.
struct PropertyRulesTests {
  private static let rules = #"""
    {"hashKey":"sixteen bytes or more","rules":[
      {"events":["Signed *","$identify"],"drop":["properties.email","traits.email"],
       "hash":["userId"]},
      {"drop":["context.ip","properties.items.*.secret","properties.a\\.b","properties.list.0"]},
      {"events":["Hashed"],"hash":["properties.*"]}
    ]}
    """#

  @Test func `named properties are dropped by event and path`() throws {
    var core = try makeCore(rules: Self.rules)
    let verdicts = try core.verdicts(
      "/v1/batch",
      #"""
      {"context":{"ip":"1.2.3.4","os":"x"},"batch":[
      {"event":"Signed Up","userId":"u","properties":{"email":"a@b","n":1}},
      {"event":"Other","userId":"u","properties":{"email":"a@b","a.b":1,"a":{"b":2},"list":[1,2],
        "items":[{"secret":1,"k":2},{"k":3},5]}},
      {"type":"identify","userId":"u","traits":{"email":"a@b","name":"Bo"}}]}
      """#)
    let events = try verdicts.envelopes()
    #expect(events[0].properties == PropertyObject([.init("n", 1)]))
    #expect(events.allSatisfy { $0[.context] == ["os": "x"] })
    #expect(
      events[1][.properties] == [
        "email": "a@b", "a": ["b": 2], "list": [2], "items": [["k": 2], ["k": 3], 5],
      ])
    #expect(events[2][.traits] == ["name": "Bo"])
    #expect(events[1].userId == "u")
    #expect(events[0].userId == events[2].userId && events[0].userId?.utf8.count == 64)
    #expect(!String(decoding: verdicts.events.payloads, as: UTF8.self).contains("1.2.3.4"))
  }

  @Test func `a hash is HMAC-SHA-256 of the text, or of the JSON`() throws {
    var core = try makeCore(rules: Self.rules)
    let verdicts = try core.verdicts(
      "/v1/events", #"[{"event":"Hashed","properties":{"a":"text","b":1.0,"c":null,"d":[1]}}]"#)
    func code(_ text: String) -> PropertyValue {
      let bytes = Array(text.utf8)
      return unsafe .string(
        Hex.encode(HMACSHA256.code(key: Array("sixteen bytes or more".utf8), bytes.span.bytes)))
    }
    #expect(
      try verdicts.envelopes()[0][.properties] == [
        "a": code("text"), "b": code("1.0"), "c": nil, "d": code("[1]"),
      ])
  }

  @Test(arguments: [
    ("", ""), ("[]", ""), ("{}", "rules"), (#"{"rules":5}"#, "rules"),
    (#"{"rules":[5]}"#, "rules[0]"), (#"{"rules":[{}]}"#, "rules[0]"),
    (#"{"rules":[{"drop":["a"]},{"drop":"a"}]}"#, "rules[1].drop"),
    (#"{"rules":[{"drop":["a",7]}]}"#, "rules[0].drop[1]"),
    (#"{"rules":[{"drop":["a..b"]}]}"#, "rules[0].drop[0]"),
    (#"{"rules":[{"drop":["messageId"]}]}"#, "rules[0].drop[0]"),
    (#"{"rules":[{"hash":["userId"]}]}"#, "rules[0].hash"),
    (#"{"hashKey":"short","rules":[]}"#, "hashKey"),
    (#"{"rules":[],"more":1}"#, "more"), (#"{"rules":[{"drops":["a"]}]}"#, "rules[0].drops"),
    (#"{"rules":[{"events":"A","drop":["a"]}]}"#, "rules[0].events"),
  ])
  func `a fault in the file is told with its place`(_ text: String, _ place: String) {
    let error = #expect(throws: RulesError.self) { try PropertyRules(json: Array(text.utf8)) }
    #expect(error?.place == place)
  }
}
