import Primitives
import Synchronization
import Testing

@Suite struct MailboxTests {
  @Test(.timeLimit(.minutes(5)))
  func `all that two threads post arrives, in each thread's order`() throws {
    let box = try Mailbox<(Int, Int)>()
    let threads = try (0..<2).map { id in
      try OwnedThread(name: "post \(id)") { for index in 0..<1000 { box.post((id, index)) } }
    }
    for thread in threads { thread.join() }
    let all = box.takeAll()
    for id in 0..<2 {
      #expect(all.filter { $0.0 == id }.map(\.1) == Array(0..<1000))
    }
    #expect(box.takeAll().isEmpty)
  }

  @Test(.timeLimit(.minutes(5)))
  func `a thread runs its closure and join waits for it`() throws {
    let seen = Atomic<Int64>(0)
    let thread = try OwnedThread(name: "one") {
      seen.store(OwnedThread.currentID, ordering: .relaxed)
    }
    thread.join()
    #expect(seen.load(ordering: .relaxed) != 0)
    #expect(seen.load(ordering: .relaxed) != OwnedThread.currentID)
  }
}
