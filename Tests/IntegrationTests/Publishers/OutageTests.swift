import DestinationTestSupport
import Foundation
import Primitives
import TestSupport
import Testing

extension IntegrationTests {
  /// A destination that is away while events flow; for hours: `Deploy/outage`.
  @Suite struct OutageTests {
    @Test func `while the destination is away memory stays, and all of it arrives in order`() throws
    {
      let gone = try FakeServer(FakeSegment())
      let port = gone.port
      gone.stop()
      let broker = try TestBroker()
      let publisher = try TestPublisher(
        "segment", "http://127.0.0.1:\(port)", broker, ["--waiting-bytes", "1MiB"])
      // More than may wait in the publisher; what comes then waits in the journal.
      #expect(try broker.publish(input: EventLine.load(0..<5000)).status == .exited(0))
      #expect(publisher.waitForError { $0.contains("next try in") })
      #expect(try broker.publish(input: EventLine.load(5000..<10_000)).status == .exited(0))
      let before = publisher.memory
      #expect(try broker.publish(input: EventLine.load(10_000..<30_000)).status == .exited(0))
      let after = publisher.memory
      #expect(
        before > 0 && (after < before + 4096 || Sanitizer.excusesMemory()),
        "\(before) KiB became \(after) KiB")
      let fake = try FakeServer(FakeSegment(), port: port)
      let isThere = waitUntil(.seconds(60)) { fake.ask { $0.stored.count } >= 30_000 }
      #expect(isThere, "\(publisher.errors)")
      #expect(fake.ledger.ids == (0..<30_000).map(EventLine.loadID))
      #expect(fake.ledger.doubles.isEmpty)
      #expect(
        publisher.memory < before + 16_384 || Sanitizer.excusesMemory(),
        "\(before) KiB became \(publisher.memory) KiB")
    }
  }
}
