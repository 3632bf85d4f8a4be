import Primitives
import Testing

@testable import Collector

/// Where the events of a body begin and end.
struct EventListTests {
  private func list(_ text: String, _ shape: EventList.Shape) throws -> EventList {
    let bytes = Array(text.utf8)
    return try unsafe EventList(bytes.span.bytes, shape)
  }

  private func pieces(_ text: String, _ shape: EventList.Shape) throws -> [String] {
    let bytes = Array(text.utf8)
    return try list(text, shape).events.map { String(decoding: bytes[$0], as: UTF8.self) }
  }

  @Test func `events are cut out of a batch whatever is in them`() throws {
    let text =
      #" { "x" : [1,{}], "batch" : [ {"a":"]}"} , 5,null, "te\"xt" ,[[]],{} ] , "sentAt":"t" } "#
    #expect(try pieces(text, .batch) == [#"{"a":"]}"}"#, "5", "null", #""te\"xt""#, "[[]]", "{}"])
    let found = try list(text, .batch)
    #expect(found.sentAt != nil && found.context == nil && found.writeKey == nil)
  }

  @Test(arguments: [
    ("", EventList.Shape.batch), ("[]", .batch), ("null", .batch), ("{}", .batch),
    (#"{"batch":{"event":"x"}}"#, .batch), (#"{"batch":[]}{"batch":[]}"#, .batch),
    (#"{"batch":[],"batch":[]}"#, .batch), (#"{"batch":[1,]}"#, .batch),
    (#"{"batch":[1 2]}"#, .batch), (#"{"batch":["open]}"#, .batch), (#"{"batch":[{]}"#, .batch),
    (#"{"batch":[]"#, .batch), (#"{batch:[]}"#, .batch), (#"{"batch" []}"#, .batch),
    (#"{"batch":[]} x"#, .batch), ("{}", .list), ("[", .list), ("[]]", .list), ("", .list),
    ("[1]", .single), ("5", .single), ("{", .single), (#"{"a":1,}"#, .single), ("5", .listOrSingle),
  ])
  func `another shape is refused with a place`(_ text: String, _ shape: EventList.Shape) throws {
    let error = #expect(throws: BodyError.self) { try self.list(text, shape) }
    #expect(0...text.utf8.count ~= error?.position ?? -1)
  }

  @Test func `depth costs nothing`() throws {
    let deep = String(repeating: "[", count: 200_000) + String(repeating: "]", count: 200_000)
    #expect(try pieces("[\(deep),1]", .list) == [deep, "1"])
    let open = String(repeating: "{\"a\":", count: 100_000)
    #expect(throws: BodyError.self) { try self.list("[\(open),1]", .list) }
  }

  @Test func `more events than a request may have are refused`() throws {
    let many = [String](repeating: "1", count: EventList.maximumEvents)
    #expect(try pieces("[\(many.joined(separator: ","))]", .list).count == 10_000)
    #expect(throws: BodyError.self) {
      try self.list("[\((many + ["1"]).joined(separator: ","))]", .list)
    }
  }

  @Test func `lines are events, blank ones are not`() throws {
    let bytes = Array("{\"a\":1}\r\n\n  \n{\"b\":2}".utf8)
    let events = try unsafe EventList(lines: bytes.span.bytes).events
    #expect(
      events.map { String(decoding: bytes[$0], as: UTF8.self) } == ["{\"a\":1}\r", "{\"b\":2}"])
  }

  @Test(arguments: [
    (#"{"messageId":"m-1","event":5}"#, "m-1"), (#"{"event":{"messageId":"inner"}}"#, ""),
    (#"{"messageId":"a\"\u00e9","event":5}"#, "a\"é"), (#"{"messageId":"\ud800"}"#, ""),
    (#"{"messageId":7}"#, ""), ("5", ""), (#"{"a":"open"#, ""), (#"{"messageId":"m","b""#, "m"),
  ])
  func `the id of a broken event is found where it can be`(_ text: String, _ id: String) {
    let bytes = Array(text.utf8)
    let found = unsafe EventList.text(of: "messageId", in: 0..<bytes.count, of: bytes.span.bytes)
    #expect(String(decoding: found, as: UTF8.self) == id)
  }
}
