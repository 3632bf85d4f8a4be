import EventCodec
import EventModel
import Primitives
import Testing

struct PeopleReaderTests {
  private func people(_ line: String) throws -> Set<String> {
    var json = JSONEventReader()
    var payload: [UInt8] = []
    let text = Array(line.utf8)
    _ = try unsafe json.read(text.span.bytes, received: 1, into: &payload)
    var reader = PeopleReader()
    let keys = unsafe reader.people(of: payload.span.bytes)
    return Set(keys.map { String(decoding: $0.bytes, as: UTF8.self) })
  }

  @Test(
    arguments: [
      (#"{"event":"a"}"#, []),
      (#"{"event":"a","userId":"x"}"#, ["ux"]),
      (#"{"event":"a","anonymousId":"x"}"#, ["ax"]),
      (#"{"event":"a","userId":"x","anonymousId":"y"}"#, ["ux", "ay"]),
      (#"{"event":"a","userId":null,"anonymousId":""}"#, []),
      // Both read `123` in every output.
      (#"{"event":"a","userId":123}"#, ["u123"]),
      (#"{"event":"a","userId":18446744073709551615}"#, ["u18446744073709551615"]),
      (#"{"event":"a","userId":1.5}"#, ["u1.5"]),
      (#"{"event":"a","userId":"é\u0000"}"#, ["ué\0"]),
      (#"{"type":"alias","userId":"new","previousId":"old"}"#, ["unew", "uold", "aold"]),
      (#"{"type":"identify","traits":{"userId":"no"},"userId":"x"}"#, ["ux"]),
      (#"{"event":"a","properties":{"userId":"no"},"context":{"anonymousId":"no"}}"#, []),
    ] as [(String, Set<String>)])
  func `an event is about the ids of its envelope`(_ line: String, _ keys: Set<String>) throws {
    #expect(try people(line) == keys)
  }

  @Test func `bytes that are no event have nobody and harm nothing`() {
    var reader = PeopleReader()
    let payload = ForgetRequest(userId: "user", anonymousId: "other")!
      .payload(messageId: UUIDv7(high: 1, low: 2), at: Timestamp(nanoseconds: 3))
    for length in 0..<payload.count {
      let part = Array(payload[..<length])
      #expect(unsafe reader.people(of: part.span.bytes).count <= 2)
    }
    #expect(unsafe reader.people(of: payload.span.bytes).count == 2)
  }

  @Test(arguments: [("u", nil), (nil, "a"), ("u", "a")] as [(String?, String?)])
  func `a request to forget reads back as it was written`(_ user: String?, _ other: String?) throws
  {
    let request = try #require(ForgetRequest(userId: user, anonymousId: other))
    let payload = request.payload(
      messageId: UUIDv7(high: 1, low: 2), at: Timestamp(nanoseconds: 3))
    let name = EventName.forget
    try unsafe PayloadWalker.check(payload.span.bytes, name: name.span.bytes)
    #expect(try unsafe ForgetRequest(payload: payload.span.bytes) == request)
    var reader = PeopleReader()
    #expect(unsafe reader.people(of: payload.span.bytes) == request.people)
  }

  @Test func `a request that names nobody is none`() {
    #expect(ForgetRequest() == nil)
    #expect(ForgetRequest(userId: "") == nil)
    #expect(ForgetRequest(userId: "x", anonymousId: "") == nil)
    let nobody = EventEnvelope(EventType("$forget"))
    var payload: [UInt8] = []
    nobody.appendPayload(to: &payload)
    #expect(throws: CodecError.self) { try unsafe ForgetRequest(payload: payload.span.bytes) }
  }
}
