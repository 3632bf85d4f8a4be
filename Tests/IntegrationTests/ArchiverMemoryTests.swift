import Foundation
import Primitives
import TestSupport
import Testing

extension IntegrationTests {
  /// The archiver at its bounds, all of them at once: some minutes, with `EVENTBUS_LONG=1` only.
  @Suite struct ArchiverMemoryTests {
    /// Two persons an event; a part ends at 500,000 of them. Doubles are remembered for 4,000,000 events.
    static let count = 4_300_000

    @Test(.enabled(if: CrashTests.isLong))
    func `500,000 people in a part and all doubles take less than 256 MiB, after a restart too`()
      throws
    {
      guard FileManager.default.fileExists(atPath: "/proc/self/status") else { return }
      let broker = try TestBroker(["--durability", "none"])
      let archiver = try TestArchiver(broker, ["--roll-age", "1h"])
      let half = Self.count / 2
      for part in [0..<half, half..<Self.count] {
        try publish(part, broker)
        #expect(
          try waitUntil(.seconds(300)) { try archiver.status()["lag"]?.int == 0 },
          "\(archiver.process.errorOutput.text)")
        let peak = try peakBytes(archiver.process.id)
        #expect(peak < 256 << 20, "\(peak >> 20) MiB")
        // The second half is taken by a process that has read all of the first from its files.
        if part.lowerBound == 0 {
          #expect(archiver.stop() == .exited(0))
          try archiver.start()
        }
      }
      let status = try archiver.status()
      #expect(status["ledger"]?["applied"]?.int == Self.count)
      let first = broker.folder.file("archive")
      let people = try Program.run(["archive", "query", "--dir", first, "--count"])
      #expect(people.lines == ["\(Self.count)"])
    }

    private func publish(_ numbers: Range<Int>, _ broker: TestBroker) throws {
      let file = broker.folder.file("people.ndjson")
      _ = FileManager.default.createFile(atPath: file, contents: nil)
      let handle = try FileHandle(forWritingTo: URL(fileURLWithPath: file))
      for start in stride(from: numbers.lowerBound, to: numbers.upperBound, by: 10_000) {
        var text = ""
        for number in start..<min(start + 10_000, numbers.upperBound) {
          text += "{\"type\":\"track\",\"event\":\"Visited\",\"messageId\":\"m\(number)\","
          text += "\"userId\":\"user-\(number)\",\"anonymousId\":\"device-\(number)\"}\n"
        }
        try handle.write(contentsOf: Data(text.utf8))
      }
      try handle.close()
      let run = try Program.run(
        ["publish", "--bus", broker.bus, "--timeout", "120s", file], limit: .seconds(600))
      #expect(run.status == .exited(0), "\(run.errors)")
    }

    /// The most that the process ever had in memory.
    private func peakBytes(_ process: Int32) throws -> Int {
      let status = try String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)
      let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") })
      return (Int(line.filter(\.isNumber)) ?? .max / 1024) * 1024
    }
  }
}
