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

    /// The content of a broker's files, to be put back into the same files as a disk's snapshot does.
    private struct Snapshot {
      private var files: [String: Data] = [:]

      init(_ broker: TestBroker, isWanted: (String) -> Bool) throws {
        for name in try Self.names(broker) where isWanted(name) {
          files[name] = try Data(contentsOf: URL(fileURLWithPath: Self.path(broker, name)))
        }
      }

      func putBack(_ broker: TestBroker) throws {
        for (name, content) in files {
          let path = Self.path(broker, name)
          // A log beside it would bring back what the file no longer has.
          for log in [path + "-wal", path + "-shm"] {
            if FileManager.default.fileExists(atPath: log) {
              try FileManager.default.removeItem(atPath: log)
            }
          }
          let file = try #require(FileHandle(forWritingAtPath: path))
          try file.truncate(atOffset: 0)
          file.write(content)
          try file.close()
        }
      }

      private static func names(_ broker: TestBroker) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: broker.folder.file("data"))
      }

      private static func path(_ broker: TestBroker, _ name: String) -> String {
        broker.folder.file("data") + "/" + name
      }
    }

    /// A broker and an archiver that have seen 30 events, and a snapshot of the first 10. Both are down.
    private func setUp(
      _ isWanted: (String) -> Bool
    ) throws -> (TestBroker, TestArchiver, Snapshot) {
      let broker = try TestBroker(portBase: try FreePorts.base())
      let archiver = try TestArchiver(broker)
      #expect(try broker.publish(lines: steps(0..<10)).status == .exited(0))
      #expect(archiver.waitForCursor(10))
      broker.process.signal(SIGTERM)
      #expect(broker.process.wait() == .exited(0))
      let snapshot = try Snapshot(broker, isWanted: isWanted)
      try broker.start()
      #expect(try broker.publish(lines: steps(10..<30)).status == .exited(0))
      #expect(archiver.waitForCursor(30))
      #expect(archiver.stop() == .exited(0))
      broker.kill()
      return (broker, archiver, snapshot)
    }

    @Test func `a journal that ends before a cursor of its own broker begins a new epoch`() throws {
      let (broker, archiver, snapshot) = try setUp { $0.hasSuffix(".segment") }
      try snapshot.putBack(broker)
      try broker.start()
      let told = broker.process.errorOutput.waitForLine { $0.contains("a new epoch at offset 10") }
      #expect(told?.contains("it went back") == true, "\(broker.process.errorOutput.text)")
      try archiver.start()
      #expect(try broker.publish(lines: steps(30..<35)).status == .exited(0))
      let isThere = waitUntil(.seconds(60)) { (try? archiver.messageIDs().count) == 35 }
      #expect(isThere, "\(archiver.process.errorOutput.text)")
    }

    @Test func `a sink that has read more than a journal that went back ends, and loses nothing`()
      throws
    {
      let (broker, archiver, snapshot) = try setUp { !$0.hasPrefix("origin") && $0 != "lock" }
      try snapshot.putBack(broker)
      try broker.start()
      #expect(try broker.publish(lines: steps(30..<35)).status == .exited(0))
      try archiver.startOnly()
      #expect(archiver.process.wait(.seconds(30)) == .exited(1))
      let errors = archiver.process.errorOutput.text
      #expect(errors.contains("the journal went back"), "\(errors)")
      #expect(try archiver.messageIDs().count == 30)

      // What the message and the runbook say.
      broker.process.signal(SIGTERM)
      #expect(broker.process.wait() == .exited(0))
      try FileManager.default.removeItem(atPath: broker.folder.file("data") + "/origin.mark")
      try broker.start()
      try archiver.start()
      let between = try Program.shell(
        "$EVENTBUS tail --bus \(broker.bus) --since 10 --until-end --format ndjson "
          + "| $EVENTBUS publish --bus \(broker.bus) -")
      #expect(between.wait() == .exited(0), "\(between.errorOutput.text)")
      #expect(try broker.publish(lines: steps(35..<40)).status == .exited(0))
      let isThere = waitUntil(.seconds(60)) { (try? archiver.messageIDs().count) == 40 }
      #expect(isThere, "\(archiver.process.errorOutput.text)")
    }
  }
}
