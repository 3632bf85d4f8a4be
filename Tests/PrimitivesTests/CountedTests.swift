import Primitives
import Testing

@Suite struct CountedTests {
  @Test func `one of a thing has no s, none and many do`() {
    #expect(1.counted("event") == "1 event")
    #expect([0, 2, -1].map { $0.counted("event") } == ["0 events", "2 events", "-1 events"])
    #expect(UInt64(1).counted("batch", "batches") == "1 batch")
    #expect(UInt64(7).counted("batch", "batches") == "7 batches")
  }
}
