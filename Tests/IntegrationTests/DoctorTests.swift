import Foundation
import TestSupport
import Testing

extension IntegrationTests {
  @Suite struct DoctorTests {
    /// The doctor's words on one broker and its archive.
    private func doctor(_ broker: TestBroker, _ words: [String] = []) throws -> Program.Run {
      try Program.run(
        [
          "doctor", "--bus", broker.bus, "--data", broker.folder.file("data"), "--dir",
          broker.folder.file("archive"), "--port-base", "0", "--timeout", "2s",
        ] + words)
    }

    private func outcomes(_ run: Program.Run) throws -> [String: String] {
      guard case .list(let checks)? = try JSONValue(text: run.output)["checks"] else { return [:] }
      return Dictionary(
        checks.map { ($0["name"]?.text ?? "", $0["outcome"]?.text ?? "") }, uniquingKeysWith: { $1 }
      )
    }

    private func archived(_ broker: TestBroker) throws -> TestArchiver {
      _ = try broker.publish(lines: (0..<20).map { #"{"event":"A","userId":"u\#($0)"}"# })
      let archiver = try TestArchiver(broker)
      try #require(waitUntil { (try? archiver.status()["ledger"]?["applied"]?.int) == 20 })
      return archiver
    }

    private func parts(_ broker: TestBroker) throws -> [String] {
      let root = broker.folder.file("archive")
      return try FileManager.default.subpathsOfDirectory(atPath: root)
        .filter { $0.hasSuffix(".zst") }.map { root + "/" + $0 }
    }

    @Test func `a system in order passes, and every event is accounted for`() throws {
      let broker = try TestBroker()
      let archiver = try archived(broker)
      let run = try doctor(broker, ["--json"])
      #expect(run.status == .exited(0), "\(run.output)")
      let outcomes = try outcomes(run)
      for name in [
        "broker", "intake", "ledger broker", "journal", "disk", "clock", "ledger archiver",
        "cursor archiver", "archive",
      ] { #expect(outcomes[name] == "ok", "\(name) in \(run.output)") }
      _ = archiver.stop()
    }

    @Test func `with everything down it says what, and still adds the ledgers up`() throws {
      let broker = try TestBroker()
      let archiver = try archived(broker)
      _ = archiver.stop()
      broker.kill()
      let run = try doctor(broker, ["--json"])
      #expect(run.status == .exited(1), "\(run.output)")
      let outcomes = try outcomes(run)
      #expect(outcomes["broker"] == "fail")
      #expect(outcomes["journal"] == "ok")
      #expect(outcomes["ledger archiver"] == "ok")
      #expect(outcomes["cursor archiver"] == "ok")
    }

    @Test func `of a service that is not ready it says what the service says of its bus`() throws {
      let folder = try TemporaryFolder()
      let base = try FreePorts.base(also: [30])
      let archiver = try ChildProcess(
        Program.path,
        ["archiver", "--port-base", "\(base)", "--dir", folder.file("archive")])
      defer { archiver.signal(SIGKILL) }
      let words = "the bus at tcp://127.0.0.1:\(base) does not answer"
      let told = archiver.errorOutput.waitForLine(.seconds(60)) { $0.contains(words) }
      #expect(told != nil, "\(archiver.errorOutput.text)")
      let run = try Program.run([
        "doctor", "--port-base", "\(base)", "--data", folder.path, "--timeout", "200ms",
      ])
      #expect(run.status == .exited(1))
      #expect(run.output.contains("is not ready: \(words)"), "\(run.output)")
    }

    @Test func `a ledger that is one event short is exit 4`() throws {
      let broker = try TestBroker()
      let archiver = try archived(broker)
      _ = archiver.stop()
      let alter = """
        import sqlite3, sys
        base = sqlite3.connect(sys.argv[1])
        base.execute("UPDATE sink_progress SET applied = applied - 1")
        base.commit()
        """
      let altered = try ChildProcess.run(
        "/usr/bin/python3", ["-c", alter, broker.folder.file("archive/catalogue.sqlite")])
      try #require(
        altered.status == .exited(0), "\(String(decoding: altered.errorOutput, as: UTF8.self))")
      let run = try doctor(broker)
      #expect(run.status == .exited(4), "\(run.output)")
      #expect(run.output.contains("LOST ledger archiver"))
      #expect(run.output.contains("1 event is unaccounted for"))
    }

    @Test func `a file that is gone from the archive is exit 4`() throws {
      let broker = try TestBroker()
      let archiver = try archived(broker)
      _ = archiver.stop()
      try FileManager.default.removeItem(atPath: try #require(try parts(broker).first))
      let run = try doctor(broker)
      #expect(run.status == .exited(4))
      #expect(run.output.contains("is missing"), "\(run.output)")
    }

    @Test func `damage in the journal is exit 4`() throws {
      let broker = try TestBroker()
      _ = try broker.publish(lines: (0..<50).map { #"{"event":"A","userId":"u\#($0)"}"# })
      broker.process.signal(SIGTERM)
      broker.process.wait()
      let folder = broker.folder.file("data")
      let name = try #require(
        try FileManager.default.contentsOfDirectory(atPath: folder).first {
          $0.hasSuffix(".segment")
        })
      var bytes = try Data(contentsOf: URL(fileURLWithPath: folder + "/" + name))
      bytes[bytes.count / 2] ^= 0x40
      try bytes.write(to: URL(fileURLWithPath: folder + "/" + name))
      let run = try doctor(broker)
      #expect(run.status == .exited(4), "\(run.output)")
      #expect(run.output.contains("LOST journal"))
    }

    @Test func `a request to end ends it at once, while it waits for a broker`() throws {
      let broker = try TestBroker()
      broker.process.signal(SIGSTOP)
      let doctor = try ChildProcess(
        Program.path,
        [
          "doctor", "--bus", broker.bus, "--data", broker.folder.file("data"), "--port-base", "0",
          "--timeout", "300s",
        ])
      // Its command runs on a thread of its own, once signals are taken.
      #expect(waitUntil { hasCommandThread(doctor) })
      doctor.signal(SIGINT)
      #expect(doctor.wait(.seconds(30)) == .exited(130))
      broker.process.signal(SIGCONT)
    }

    private func hasCommandThread(_ process: ChildProcess) -> Bool {
      let path = "/proc/\(process.id)/task"
      return ((try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []).count > 1
    }

    @Test func `a subscriber that is away and behind fails, and is named`() throws {
      let broker = try TestBroker()
      _ = try broker.publish(["--event", "A"])
      _ = try broker.stored(["--name", "reader"])
      _ = try broker.publish(["--event", "A"])
      let run = try doctor(broker)
      #expect(run.status == .exited(1))
      #expect(run.output.contains("lag reader"), "\(run.output)")
    }
  }
}
