import Foundation
import Primitives
import TestSupport
import Testing

extension IntegrationTests {
  /// What `publish` does with lines that are not what they should be.
  @Suite struct LineInputTests {
    private static func steps(_ range: Range<Int>) -> [String] {
      range.map { EventLine.track("Step", id: "S-\($0)", properties: "{\"n\":\($0)}") }
    }

    private static func ids(_ range: Range<Int>) -> [String] { range.map { "S-\($0)" } }

    @Test func `a byte order mark is no part of the first event`() throws {
      let broker = try TestBroker()
      let text = "\u{FEFF}" + Self.steps(0..<5).joined(separator: "\n") + "\n"
      let run = try broker.publish(input: text)
      #expect(run.status == .exited(0), "\(run.errors)")
      #expect(try broker.stored().messageIDs == Self.ids(0..<5))
    }

    @Test func `a file at a rate is published once, and takes its time`() throws {
      let broker = try TestBroker()
      let text = Self.steps(0..<10).joined(separator: "\n") + "\n"
      let run = try Program.run(
        ["publish", "--bus", broker.bus, "--rate", "50", "--producer", "import", "--json", "-"],
        input: Array(text.utf8))
      #expect(run.status == .exited(0), "\(run.errors)")
      #expect(try broker.stored().messageIDs == Self.ids(0..<10))
      let seconds = try JSONValue(text: run.output)["seconds"]?.number
      #expect(try #require(seconds) >= 9.0 / 50)
    }

    @Test func `another encoding is told once and nothing is published`() throws {
      let broker = try TestBroker()
      var bytes: [UInt8] = [0xFF, 0xFE]
      for unit in (Self.steps(0..<3).joined(separator: "\n") + "\n").utf16 {
        bytes.append(UInt8(unit & 0xFF))
        bytes.append(UInt8(unit >> 8))
      }
      let run = try Program.run(["publish", "--bus", broker.bus, "-"], input: bytes)
      #expect(run.status != .exited(0))
      #expect(run.errors.contains("UTF-16"), "\(run.errors)")
      #expect(run.errorLines.filter { $0.contains("UTF-16") }.count == 1, "\(run.errors)")
      #expect(try broker.stored().isEmpty)
    }

    @Test func `blank lines and carriage returns are no events and lines keep their number`() throws
    {
      let broker = try TestBroker()
      let steps = Self.steps(0..<5)
      let lines = ["", steps[0], steps[1], "", steps[2], "   ", steps[3], steps[4], "", "{bad"]
      let text = lines.joined(separator: "\r\n") + "\r\n"
      let run = try broker.publish(input: text)
      #expect(run.status == .exited(3))
      #expect(run.errorLines.contains { $0.hasPrefix("line 10: ") }, "\(run.errors)")
      #expect(try broker.stored().messageIDs == Self.ids(0..<5))
      let stored = try broker.stored(["--format", "ndjson"])
      #expect(stored.allSatisfy { $0["properties"]?["n"] != nil })
    }

    @Test(arguments: [
      (["--count", "1", "--event", "A", "--property", "a=1"], "--property is for the one event"),
      (["--count", "1", "--event", "A", "--user", "u"], "--user is for the one event"),
      (["--user", "u", "-"], "--user is for the one event"),
    ])
    func `an option that would change nothing is refused`(words: [String], message: String) throws {
      let run = try Program.run(["publish"] + words)
      #expect(run.status == .exited(2) && run.errorLines.count == 1, "\(run.errors)")
      #expect(run.errors.contains(message), "\(run.errors)")
      let inherited = try Program.shell(
        "EVENTBUS_USER=u exec $EVENTBUS publish --bus tcp://127.0.0.1:1 --timeout 100ms /dev/null")
      #expect(inherited.wait() != .exited(2), "\(inherited.errorOutput.text)")
    }

    @Test func `refused lines are never written over the input`() throws {
      let broker = try TestBroker()
      let folder = try TemporaryFolder()
      let file = folder.file("lines")
      let link = folder.file("link")
      let text = "{bad\n" + Self.steps(0..<1)[0] + "\n"
      try text.write(toFile: file, atomically: false, encoding: .utf8)
      #expect(unsafe symlink(file, link) == 0)
      for refused in [file, link] {
        let run = try broker.publish(["--refused", refused, file])
        #expect(run.status == .exited(2))
        #expect(run.errors.contains("--refused: \(refused) is itself read"), "\(run.errors)")
      }
      #expect(try String(contentsOfFile: file, encoding: .utf8) == text)
    }

    @Test func `a signal in the middle of a line makes no refused line of it`() throws {
      let broker = try TestBroker()
      let folder = try TemporaryFolder()
      let pipe = folder.file("pipe")
      #expect(unsafe mkfifo(pipe, 0o600) == 0)
      let publish = try ChildProcess(Program.path, ["publish", "--bus", broker.bus, pipe])
      let input = try #require(FileHandle(forWritingAtPath: pipe))
      input.write(Data((Self.steps(0..<1)[0] + "\n" + Self.steps(1..<2)[0].dropLast(9)).utf8))
      #expect(try waitUntil { try broker.stored().messageIDs == Self.ids(0..<1) })
      publish.signal(SIGINT)
      #expect(publish.wait(.seconds(20)) == .exited(130))
      let errors = String(decoding: publish.errorOutput.waitForEnd(), as: UTF8.self)
      #expect(!errors.contains("line 2"), "\(errors)")
      try input.close()
    }

    @Test func `a line of 40 MiB is refused without being kept`() throws {
      let broker = try TestBroker()
      let folder = try TemporaryFolder()
      let file = folder.file("huge.ndjson")
      var data = Data((Self.steps(0..<5).joined(separator: "\n") + "\n").utf8)
      data.append(Data("{\"type\":\"track\",\"event\":\"Huge\",\"properties\":{\"blob\":\"".utf8))
      data.append(Data(repeating: UInt8(ascii: "y"), count: 40 << 20))
      data.append(Data("\"}}\n".utf8))
      data.append(Data((Self.steps(6..<11).joined(separator: "\n") + "\n").utf8))
      // And once more without an end.
      data.append(Data("{\"event\":\"".utf8) + Data(repeating: UInt8(ascii: "z"), count: 40 << 20))
      try data.write(to: URL(fileURLWithPath: file))
      // The kernel's figure of the largest the child ever was, in KiB, behind its own output.
      let child = try ChildProcess(
        "/usr/bin/python3",
        ["-c", Self.peakMemory, Program.path, "publish", "--bus", broker.bus, file])
      let status = child.wait(.seconds(60))
      let errors = String(decoding: child.errorOutput.waitForEnd(), as: UTF8.self)
      #expect(status == .exited(3), "\(errors)")
      let lines = errors.split(separator: "\n")
      #expect(
        lines.filter { $0.hasPrefix("line 6: ") && $0.contains("262144") }.count == 1, "\(errors)")
      #expect(lines.filter { $0.hasPrefix("line 12: ") }.count == 1, "\(errors)")
      let peak = try #require(
        Int(child.output.text.trimmingCharacters(in: .whitespacesAndNewlines)))
      #expect(peak < 64 << 10 || Sanitizer.excusesMemory(), "\(peak) KiB")
      #expect(try broker.stored().messageIDs == Self.ids(0..<5) + Self.ids(6..<11))
    }

    /// Runs the program in its arguments; prints its peak memory in KiB; ends as it ended.
    private static let peakMemory = """
      import resource, subprocess, sys
      code = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL).returncode
      print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
      sys.exit(code)
      """

    @Test func `lines that are not UTF-8 are refused one by one`() throws {
      let broker = try TestBroker()
      let bad: [[UInt8]] = [
        [0xFC], [0xF0, 0x9F, 0x98], [0xED, 0xA0, 0x80], [0xC0, 0xAF], [0xFF],
        Array("\\ud83d".utf8),
      ]
      var bytes = Array((Self.steps(0..<1)[0] + "\n").utf8)
      for part in bad {
        bytes += Array("{\"event\":\"Step\",\"properties\":{\"x\":\"before ".utf8)
        bytes += part + Array(" after\"}}\n".utf8)
      }
      bytes += Array((Self.steps(7..<8)[0] + "\n").utf8)
      let run = try Program.run(["publish", "--bus", broker.bus, "-"], input: bytes)
      #expect(run.status == .exited(3))
      #expect(try broker.stored().messageIDs == ["S-0", "S-7"])
      for number in 2...7 {
        #expect(run.errorLines.contains { $0.hasPrefix("line \(number): ") }, "\(run.errors)")
      }
    }

    @Test func `what is nested deeper than 32 is refused and what follows arrives`() throws {
      let broker = try TestBroker()
      func deep(_ levels: Int) -> String {
        let value = String(repeating: "[", count: levels) + String(repeating: "]", count: levels)
        return EventLine.track("Deep \(levels)", id: "D", properties: "{\"d\":\(value)}")
      }
      let lines =
        [8, 32, 33, 100, 256, 513, 5000, 20_000].map(deep) + [
          EventLine.track("After Deep", id: "A"),
          "{\"event\":\"Open Only\",\"properties\":{\"d\":"
            + String(repeating: "[", count: 100_000),
          EventLine.track("After Open", id: "B"),
        ]
      let run = try broker.publish(lines: lines)
      #expect(run.status == .exited(3))
      #expect(try broker.stored().names == ["Deep 8", "Deep 32", "After Deep", "After Open"])
      #expect(run.errorLines.filter { $0.hasPrefix("line ") }.count == 7, "\(run.errors)")
      #expect(try broker.isUp())
    }

    private static let mixed = [
      "{\"type\":\"track\",\"event\":\"Step\",\"userId\":\"u1\"", "[1,2,3]", "\"a string\"", "42",
      "null", "{}", "{\"event\":\"No Type\",\"userId\":\"u1\"}", "{'event':'single quotes'}",
      "{\"event\":\"Trailing Comma\",\"userId\":\"u1\",}", "// comment",
      EventLine.track("Good", id: "P10"),
    ]

    @Test func `a bad line stops nothing but itself`() throws {
      let broker = try TestBroker()
      let run = try broker.publish(lines: Self.mixed)
      #expect(run.status == .exited(3))
      #expect(try broker.stored().names == ["No Type", "Good"])
      for number in [1, 2, 3, 4, 5, 6, 8, 9, 10] {
        #expect(run.errorLines.contains { $0.hasPrefix("line \(number): ") }, "\(run.errors)")
      }
    }

    @Test func `the first bad line stops it where that is asked for`() throws {
      let broker = try TestBroker()
      let lines = Self.steps(0..<2) + Self.mixed
      let run = try broker.publish(
        ["--stop-on-error", "-"], input: lines.joined(separator: "\n") + "\n")
      #expect(run.status == .exited(3))
      #expect(run.errorLines.filter { $0.hasPrefix("line ") }.count == 1, "\(run.errors)")
      #expect(try broker.stored().messageIDs == Self.ids(0..<2))
    }
  }
}
