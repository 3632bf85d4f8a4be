import EventCodec
import EventModel
import Primitives
import Testing

struct ForgetRequestTests {
  @Test(arguments: [("u", nil), (nil, "a"), ("u", "a")] as [(String?, String?)])
  func `a request to forget reads back as it was written`(_ user: String?, _ other: String?) throws
  {
    let request = try #require(ForgetRequest(userId: user, anonymousId: other))
    let payload = request.payload(
      messageId: UUIDv7(high: 1, low: 2), at: Timestamp(nanoseconds: 3))
    let name = EventName.forget
    try unsafe PayloadWalker.check(payload.span.bytes, name: name.span.bytes)
    #expect(try unsafe ForgetRequest(payload: payload.span.bytes) == request)
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
