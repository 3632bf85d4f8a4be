import BusProtocol
import Testing

@testable import BusBroker

@Suite struct CursorRepliesTests {
  private static func waiting(_ name: String) -> CursorReplies.Waiting {
    CursorReplies.Waiting(
      request: AdminMessage(request: 1, action: .pause), name: Array(name.utf8), peer: Peer(id: 1))
  }

  private static func names(_ waiting: [CursorReplies.Waiting]) -> [String] {
    waiting.map { String(decoding: $0.name, as: UTF8.self) }
  }

  @Test func `who asks while a transaction is under way waits for the next`() {
    var replies = CursorReplies()
    replies.wait(Self.waiting("a"))
    replies.begin()
    replies.wait(Self.waiting("b"))
    #expect(Self.names(replies.end()) == ["a"])
    replies.begin()
    #expect(Self.names(replies.end()) == ["b"])
    #expect(replies.end().isEmpty)
  }

  @Test func `who waits in both queues counts for the limit`() {
    var replies = CursorReplies(limit: 2)
    replies.wait(Self.waiting("a"))
    replies.begin()
    #expect(!replies.isFull)
    replies.wait(Self.waiting("b"))
    #expect(replies.isFull)
  }
}
