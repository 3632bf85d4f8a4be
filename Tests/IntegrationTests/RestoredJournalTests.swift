import Foundation
import TestSupport
import Testing

extension IntegrationTests {
  /// A journal that is older than what its sinks have read.
  @Suite struct RestoredJournalTests {
    private func steps(_ range: Range<Int>) -> [String] {
      range.map { EventLine.track("Step", id: "S-\($0)") }
    }

    @Test func `what comes after an older journal was put back is archived and counted`() throws {
      let broker = try TestBroker(portBase: try FreePorts.base())
      let archiver = try TestArchiver(broker)
      let aggregator = try TestAggregator(broker.bus)
      #expect(try broker.publish(lines: steps(0..<10)).status == .exited(0))
      #expect(archiver.waitForCursor(10))
      broker.process.signal(SIGTERM)
      #expect(broker.process.wait() == .exited(0))
      let (data, backup) = (broker.folder.file("data"), broker.folder.file("backup"))
      try FileManager.default.copyItem(atPath: data, toPath: backup)
      try broker.start()
      #expect(try broker.publish(lines: steps(10..<30)).status == .exited(0))
      #expect(archiver.waitForCursor(30))
      _ = try aggregator.status(at: 30)

      broker.kill()
      try FileManager.default.removeItem(atPath: data)
      try FileManager.default.copyItem(atPath: backup, toPath: data)
      try broker.start()
      #expect(broker.process.errorOutput.waitForLine { $0.contains("a new epoch") } != nil)
      #expect(try broker.publish(lines: steps(30..<35)).status == .exited(0))
      let isThere = waitUntil(.seconds(60)) { (try? archiver.messageIDs().count) == 35 }
      #expect(isThere, "\(archiver.process.errorOutput.text)")
      let status = try aggregator.status(at: 15)
      #expect(status["ledger"]?["applied"]?.int == 35, "\(status)")
      #expect(status["ledger"]?["rewound"]?.int == 20, "\(status)")
      #expect(try aggregator.report("events-by-day")["total"]?["count"]?.int == 35)
      #expect(archiver.process.errorOutput.text.contains("is an older copy"))
    }
  }
}
