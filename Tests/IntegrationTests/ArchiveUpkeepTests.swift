import Foundation
import Primitives
import TestSupport
import Testing

extension IntegrationTests {
  /// What is asked and said where an archive is looked after.
  @Suite struct ArchiveUpkeepTests {
    /// An archiver with ten events in its open file, which it keeps open.
    private static func open(_ broker: TestBroker) throws -> TestArchiver {
      let archiver = try TestArchiver(broker, ["--roll-age", "1h"])
      let lines = (0..<10).map { EventLine.track("Step", id: "\($0)") }
      #expect(try broker.publish(lines: lines).status == .exited(0))
      try #require(try waitUntil { try archiver.status()["part"]?["events"]?.int == 10 })
      return archiver
    }

    @Test func `verify beside a running archiver finds nothing, and after its death its file`()
      throws
    {
      let broker = try TestBroker()
      let archiver = try Self.open(broker)
      func verify() throws -> [JSONValue] {
        let run = try Program.run(["archive", "verify", "--dir", archiver.directory, "--json"])
        #expect(run.status == .exited(0), "\(run.errors)")
        return try JSONValue(text: run.output)["notInCatalogue"]?.list ?? []
      }
      #expect(try verify() == [])
      archiver.kill()
      let left = try verify()
      #expect(left.count == 1 && left[0].text?.contains("/.tmp-part-") == true, "\(left)")
    }

    @Test func `compact says that the running hour waits`() throws {
      let broker = try TestBroker()
      let archiver = try Self.open(broker)
      #expect(archiver.stop() == .exited(0))
      func hour() -> Int64 { SystemClock.realtime() / 3_600_000_000_000 }
      let before = hour()
      let compact = ["archive", "compact", "--dir", archiver.directory]
      let run = try Program.run(compact)
      let json = try JSONValue(text: try Program.run(compact + ["--json"]).output)
      // Over midnight of the hour it waits no longer.
      guard hour() == before else { return }
      #expect(run.lines.last == "1 part waits until the running hour (UTC) is over")
      #expect(json["partsWaiting"]?.int == 1)
    }

    /// A terminal of util-linux's `script`, whose keyboard is our pipe.
    @Test(arguments: [("\u{3}", 130), ("no\n", 1)])
    func `nothing is erased unless yes is the answer`(_ keys: String, _ code: Int) throws {
      let broker = try TestBroker()
      let archiver = try Self.open(broker)
      let head = try broker.stored().count
      let terminal = try ChildProcess(
        "/usr/bin/script",
        [
          "-qec",
          "trap : INT; \(Program.path) archive forget --dir \(archiver.directory) --user u"
            + " --bus \(broker.bus); echo code=$?",
          "/dev/null",
        ])
      try #require(waitUntil { terminal.output.text.contains("Type yes to go on:") })
      try terminal.write(keys)
      #expect(terminal.wait() == .exited(0))
      let text = String(decoding: terminal.output.waitForEnd(), as: UTF8.self)
      #expect(text.contains("nothing was erased"), "\(text)")
      #expect(text.contains("code=\(code)\r"), "\(text)")
      #expect(try broker.stored().count == head)
    }
  }
}
