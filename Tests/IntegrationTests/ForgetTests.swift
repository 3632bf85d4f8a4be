import Foundation
import Primitives
import TestSupport
import Testing

extension IntegrationTests {
  /// `archive forget`: a person goes, everywhere, and the rest stays.
  @Suite struct ForgetTests {
    private static let count = 20_000

    private enum Missing: Error { case sinks }

    private static func holds(_ line: Substring, _ ids: [String]) -> Bool {
      ids.contains { line.contains("\"userId\":\"\($0)\"") }
    }

    @Test func `two people are deleted, and everybody else is as before`() throws {
      let broker = try TestBroker()
      let archiver = try TestArchiver(broker)
      let load = EventLine.load(0..<Self.count)
      #expect(try broker.publish(input: load).status == .exited(0))
      #expect(archiver.waitForCursor(Self.count))
      let before = try archiver.lines()
      let ids = ["u1234", "u77"]
      let theirs = before.filter { Self.holds($0, ids) }.count
      #expect(theirs == 2 * Self.count / 5000)
      for (number, id) in ids.enumerated() {
        let run = try archiver.run("forget", broker, ["--user", id, "--yes", "--json"])
        #expect(run.status == .exited(0), "\(run.errors)")
        let receipt = try JSONValue(text: run.output)
        #expect(receipt["erased"] == .bool(true))
        #expect(receipt["events"]?.int == theirs / 2)
        #expect(receipt["offset"]?.int == Self.count + number)
        #expect(receipt["journalUntil"]?.text?.hasPrefix("20") == true)
        #expect(!run.output.contains(id))
        guard case .list(let sinks)? = receipt["sinks"] else {
          Issue.record("no sinks in \(run.output)")
          continue
        }
        #expect(sinks.contains { $0["name"]?.text == "archiver" && $0["passed"] == .bool(true) })
      }
      // Files, query, replay and a restart agree.
      for id in ids { #expect(try archiver.files(holding: "\"\(id)\"") == []) }
      let after = try archiver.lines()
      #expect(after == before.filter { !Self.holds($0, ids) })
      #expect(try archiver.count() == Self.count - theirs)
      #expect(try archiver.count(["--user", ids[0]]) == 0)
      let dry = try archiver.run("replay", broker, ["--to", "archiver", "--dry-run", "--json"])
      #expect(try dry.summary("published") == Self.count - theirs)
      #expect(archiver.stop() == .exited(0))
      try archiver.start()
      #expect(try archiver.count() == Self.count - theirs)
      // The record stays, without the id.
      let status = try archiver.run("forget", broker, ["--user", ids[0], "--status", "--json"])
      #expect(status.status == .exited(0), "\(status.errors)")
      #expect(try status.summary("events") == theirs / 2)
      let receipt = try JSONValue(text: status.output)
      #expect(receipt["journalUntil"]?.text?.hasPrefix("20") == true)
      #expect(receipt["journalErased"] == .bool(false))
      guard case .list(let sinks)? = receipt["sinks"] else { throw Missing.sinks }
      #expect(sinks.contains { $0["name"]?.text == "archiver" && $0["passed"] == .bool(true) })
      #expect(
        try archiver.run("forget", broker, ["--user", "u1", "--status"]).status == .exited(1))
      try returns(ids[0], broker, archiver, count: Self.count - theirs, load: load)
    }

    /// Imported again the person stays out; who comes back is kept.
    private func returns(
      _ id: String, _ broker: TestBroker, _ archiver: TestArchiver, count: Int, load: String
    ) throws {
      let file = broker.folder.file("again.ndjson")
      try Data(load.utf8).write(to: URL(fileURLWithPath: file))
      let run = try archiver.run("import", broker, [file, "--json"])
      #expect(run.status == .exited(0), "\(run.errors)")
      #expect(try run.summary("forgotten") == Self.count - count)
      let line = EventLine.track("Back", id: "back-1", user: id)
      #expect(try broker.publish(lines: [line]).status == .exited(0))
      #expect(archiver.waitForCursor(try broker.head()))
      #expect(try archiver.count() == count + 1)
      #expect(try archiver.count(["--user", id]) == 1)
      #expect(try archiver.status()["ledger"]?["balanced"] == .bool(true))
    }

    @Test func `an archiver killed on the way erases the person when it is back`() throws {
      let broker = try TestBroker()
      let archiver = try TestArchiver(broker, ["--roll-bytes", "64KiB"])
      for start in stride(from: 0, to: Self.count, by: 2000) {
        #expect(
          try broker.publish(input: EventLine.load(start..<start + 2000)).status == .exited(0))
        #expect(archiver.waitForCursor(start + 2000))
      }
      let before = try archiver.lines()
      for round in 0..<5 {
        let id = "u\(round * 13)"
        let forget = try ChildProcess(
          Program.path,
          [
            "archive", "forget", "--dir", archiver.directory, "--bus", broker.bus, "--user", id,
            "--yes", "--timeout", "30s",
          ])
        #expect(waitUntil { (try? broker.head()) ?? 0 > Self.count + round })
        archiver.kill()
        try archiver.start()
        #expect(forget.wait(.seconds(60)) == .exited(0))
        #expect(try archiver.files(holding: "\"\(id)\"") == [])
      }
      let gone = (0..<5).map { "u\($0 * 13)" }
      #expect(try archiver.lines() == before.filter { !Self.holds($0, gone) })
      #expect(try archiver.status()["ledger"]?["balanced"] == .bool(true))
    }

    @Test func `without an archiver the receipt says that it is not done`() throws {
      let broker = try TestBroker()
      let archiver = try TestArchiver(broker)
      #expect(try broker.publish(input: EventLine.load(0..<100)).status == .exited(0))
      #expect(archiver.waitForCursor(100))
      #expect(archiver.stop() == .exited(0))
      let run = try archiver.run(
        "forget", broker, ["--user", "u13", "--yes", "--timeout", "1s", "--json"])
      #expect(run.status == .exited(1))
      #expect(try JSONValue(text: run.output)["erased"] == .bool(false))
      try archiver.start()
      #expect(waitUntil { (try? archiver.count(["--user", "u13"])) == 0 })
      #expect(
        waitUntil {
          (try? archiver.run("forget", broker, ["--user", "u13", "--status"]).status) == .exited(0)
        })
    }

    @Test func `ids that were joined are told of beforehand, and stay unless they are given`()
      throws
    {
      let help = try Program.run(["archive", "forget", "--help"])
      let words = help.output.split(whereSeparator: \.isWhitespace).joined(separator: " ")
      #expect(words.contains("identify or alias joined to it, each has to be given"))
      let find = ["--by", "userId,anonymousId,previousId"]
      #expect(words.contains("--user u42 " + find.joined(separator: " ")))
      let broker = try TestBroker()
      let archiver = try TestArchiver(broker)
      let lines = [
        #"{"type":"identify","userId":"u1","anonymousId":"device-7"}"#,
        #"{"type":"alias","userId":"u1","previousId":"old"}"#,
        #"{"event":"E","anonymousId":"device-7"}"#, #"{"event":"E","userId":"old"}"#,
      ]
      #expect(try broker.publish(lines: lines).status == .exited(0))
      #expect(archiver.waitForCursor(lines.count))
      let beside = try archiver.run("query", broker, ["--user", "u1"] + find).output
      #expect(beside.contains("device-7") && beside.contains("old"), "\(beside)")
      #expect(try archiver.run("forget", broker, ["--user", "u1", "--yes"]).status == .exited(0))
      #expect(try archiver.count() == 2)
    }

    @Test func `nobody else may publish it, and it is not asked for by mistake`() throws {
      let broker = try TestBroker()
      let archiver = try TestArchiver(broker)
      #expect(try broker.publish(["--event", "$forget", "--user", "u1"]).status == .exited(3))
      let line = #"{"type":"track","event":"$forget","userId":"u1"}"#
      #expect(try broker.publish(lines: [line]).status == .exited(3))
      #expect(try archiver.run("forget", broker, ["--user", "u1"]).status == .exited(2))
      #expect(try archiver.run("forget", broker, ["--user", "", "--yes"]).status == .exited(2))
      #expect(try archiver.run("forget", broker, ["--yes"]).status == .exited(2))
      #expect(try broker.head() == 0)
    }
  }
}
