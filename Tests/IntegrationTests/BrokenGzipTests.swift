import Foundation
import TestSupport
import Testing

extension IntegrationTests {
  /// Gzip that is damaged or cut off: told with its name and place, after what came before it.
  @Suite struct BrokenGzipTests {
    /// Lines that do not pack well, so that damage can lie between them.
    private static let lines = (0..<400).map { number in
      let filler = (0..<8).map { _ in String(UInt64.random(in: 0 ... .max), radix: 16) }.joined()
      return EventLine.track("Step", id: "S-\(number)", properties: "{\"f\":\"\(filler)\"}")
    }

    private static func packed() throws -> [UInt8] {
      let text = lines.map { $0 + "\n" }.joined()
      let (status, packed, _) = try ChildProcess.run("gzip", ["-c"], input: Array(text.utf8))
      try #require(status == .exited(0))
      return packed
    }

    /// The number behind `word` in a message.
    private static func number(behind word: String, in text: String) -> Int? {
      text.components(separatedBy: word).dropFirst().first
        .flatMap { Int($0.prefix { $0.isNumber }) }
    }

    @Test func `every command that reads it names the file and the place`() throws {
      let broker = try TestBroker()
      let archive = try TestArchiver(broker).directory
      let folder = try TemporaryFolder()
      let file = folder.file("cut.gz")
      let whole = try Self.packed()
      let cut = whole.count / 2
      try Data(whole[..<cut]).write(to: URL(fileURLWithPath: file))
      let publish = try broker.publish([file])
      #expect(publish.status != .exited(0))
      let behind = try #require(
        Self.number(behind: "behind line ", in: publish.errors), "\(publish.errors)")
      #expect((50..<350).contains(behind))
      let stored = try broker.stored().messageIDs
      #expect(stored == (0..<behind).map { "S-\($0)" })
      let plan = folder.file("plan.json")
      try Program.run(["plan", "infer", "--bus", broker.bus]).output
        .write(toFile: plan, atomically: true, encoding: .utf8)
      for words in [
        ["publish", "--bus", broker.bus, file],
        ["publish", "--bus", broker.bus, "--count", "1", file],
        ["archive", "import", "--any-name", "--dry-run", "--dir", archive, file],
        ["plan", "infer", file], ["plan", "check", plan, file],
      ] {
        let run = try Program.run(words)
        #expect(run.status == .exited(1) || run.status == .exited(3), "\(words): \(run.errors)")
        let place = "\(file): gzip, cut off at byte \(cut), behind line \(behind)"
        #expect(run.errors.contains(place), "\(words): \(run.errors)")
      }
      let piped = try Program.run(
        ["publish", "--bus", broker.bus, "-"], input: Array(whole[..<cut]))
      #expect(piped.errors.contains("stdin: gzip, cut off at byte \(cut)"), "\(piped.errors)")
    }

    @Test func `damage is told with its byte, and what came before it is published`() throws {
      let broker = try TestBroker()
      var bytes = try Self.packed()
      // The checksum at the end: everything before it is as it was.
      bytes[bytes.count - 6] ^= 0xFF
      let run = try Program.run(["publish", "--bus", broker.bus, "-"], input: bytes)
      #expect(run.status != .exited(0))
      let at = Self.number(behind: "damaged at byte ", in: run.errors) ?? 0
      #expect((bytes.count - 8...bytes.count).contains(at), "\(run.errors)")
      #expect(run.errors.contains("behind line \(Self.lines.count)"), "\(run.errors)")
      #expect(try broker.stored().count == Self.lines.count)
    }

    @Test func `gzip is known when a pipe brings its first byte alone`() throws {
      let broker = try TestBroker()
      let pipe = broker.folder.file("pipe")
      #expect(unsafe mkfifo(pipe, 0o600) == 0)
      let publish = try ChildProcess(Program.path, ["publish", "--bus", broker.bus, pipe])
      let input = try #require(FileHandle(forWritingAtPath: pipe))
      let bytes = try Self.packed()
      input.write(Data(bytes[..<1]))
      #expect(
        waitUntil {
          var waiting: Int32 = 0
          return unsafe ioctl(input.fileDescriptor, UInt(FIONREAD), &waiting) == 0 && waiting == 0
        })
      input.write(Data(bytes[1...]))
      try input.close()
      #expect(publish.wait() == .exited(0), "\(publish.errorOutput.text)")
      #expect(try broker.stored().count == Self.lines.count)
    }
  }
}
