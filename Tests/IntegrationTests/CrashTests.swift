import Foundation
import Primitives
import TestSupport
import Testing

extension IntegrationTests {
  /// What an acknowledgement is worth when the broker is killed at full load.
  @Suite struct CrashTests {
    /// `EVENTBUS_LONG=1` for a run of minutes.
    static let isLong = ProcessInfo.processInfo.environment["EVENTBUS_LONG"] == "1"
    static let count = isLong ? 1_000_000 : 200_000
    static let kills = isLong ? 20 : 4

    @Test
    func `no acknowledged event is lost or doubled when the broker is killed`() throws {
      let folder = try TemporaryFolder()
      let file = folder.file("load.ndjson")
      try EventLine.load(0..<Self.count).write(toFile: file, atomically: true, encoding: .utf8)
      let broker = try TestBroker(portBase: try FreePorts.base())
      let publisher = try ChildProcess(
        Program.path, ["publish", "--bus", broker.bus, "--json", "--timeout", "60s", file])
      for kill in 1...Self.kills {
        // Spread over the run by what is on the disk, not by time.
        let reached = try waitUntil(.seconds(60)) {
          try journalBytes(broker) > Self.count * 80 / (Self.kills + 1) * kill
            || publisher.ended() != nil
        }
        #expect(reached && publisher.ended() == nil, "kill \(kill) is in the middle")
        broker.kill()
        try broker.start()
      }
      #expect(publisher.wait(.seconds(240)) == .exited(0), "\(publisher.errorOutput.text)")
      let told = try JSONValue(text: publisher.output.text)
      #expect(told["acknowledged"]?.int == Self.count)
      let out = folder.file("stored.ndjson")
      let tail = try Program.shell(
        "exec $EVENTBUS tail --bus \(broker.bus) --since earliest --until-end --format ndjson > \(out)"
      )
      #expect(tail.wait(.seconds(240)) == .exited(0), "\(tail.errorOutput.text)")
      try expectComplete(out)
      broker.process.signal(SIGTERM)
      #expect(broker.process.wait() == .exited(0))
      let verify = try Program.run(["journal", "verify", "--data", broker.folder.file("data")])
      #expect(verify.status == .exited(0), "\(verify.output)\(verify.errors)")
    }

    @Test func `a broker whose files were removed acknowledges nothing more and says so`() throws {
      let broker = try TestBroker()
      #expect(try broker.publish(["--event", "Before"]).status == .exited(0))
      let data = broker.folder.file("data")
      try FileManager.default.removeItem(atPath: data)
      let run = try broker.publish(["--event", "After", "--timeout", "2s"])
      #expect(run.status == .exited(4), "\(run.errors)")
      #expect(broker.process.wait() == .exited(74))
      let said = broker.process.errorOutput.text
      #expect(said.contains("\(data)/") && said.contains("was removed"), "\(said)")
    }

    private func journalBytes(_ broker: TestBroker) throws -> Int {
      let root = broker.folder.file("data")
      var sum = 0
      for name in try FileManager.default.subpathsOfDirectory(atPath: root) {
        let attributes = try? FileManager.default.attributesOfItem(atPath: root + "/" + name)
        sum += (attributes?[.size] as? NSNumber)?.intValue ?? 0
      }
      return sum
    }

    private func expectComplete(_ path: String) throws {
      let text = try String(contentsOfFile: path, encoding: .utf8)
      var seen = Set<Substring>(minimumCapacity: Self.count)
      var doubled: [Substring] = []
      for line in text.components(separatedBy: "\n") where !line.isEmpty {
        let start = try #require(line.range(of: "\"messageId\":\"LOAD-")).upperBound
        let id = line[start...].prefix { $0 != "\"" }
        if !seen.insert(id).inserted { doubled.append(id) }
      }
      #expect(doubled.isEmpty, "\(doubled.count) doubled, first \(doubled.first ?? "")")
      #expect(seen.count == Self.count)
    }
  }
}
