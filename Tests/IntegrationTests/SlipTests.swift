import Foundation
import TestSupport
import Testing

extension IntegrationTests {
  /// Command lines that ask for what cannot be, or is not there yet.
  @Suite struct SlipTests {
    @Test(
      arguments: [
        (["--event", ""], 3, "--event: the event name cannot be used: it is empty"),
        (["--event", "A", "--property", "a=1", "--property", "a=2"], 2, "'a' is given twice"),
        (
          ["--event", String(repeating: "n", count: 300)], 3,
          "--event: the event name cannot be used"
        ),
      ] as [([String], Int32, String)])
    func `a fault of the one event names its option and no line`(
      words: [String], code: Int32, message: String
    ) throws {
      let broker = try TestBroker()
      let run = try broker.publish(words)
      #expect(run.status == .exited(code))
      #expect(run.errors.contains(message), "\(run.errors)")
      #expect(!run.errors.contains("line ") && !run.errors.contains("at byte"), "\(run.errors)")
    }

    @Test(arguments: ["7", "9223372036854775807", "18446744073709551615"])
    func `an offset beyond the end is told, and what comes is shown`(_ offset: String) throws {
      let broker = try TestBroker()
      #expect(try broker.publish(["--event", "A"]).status == .exited(0))
      let none = try Program.run(
        ["tail", "--bus", broker.bus, "--since", offset, "--until-end"])
      #expect(none.status == .exited(0))
      #expect(
        none.errorLines == [
          "note: offset \(offset) lies beyond the end of the journal: it begins at 1, its head"
        ])
      let tail = try broker.tail(["--since", offset, "--count", "1"])
      #expect(try broker.publish(["--event", "B"]).status == .exited(0))
      #expect(tail.wait(.seconds(20)) == .exited(0))
      #expect(tail.output.text.contains("B"), "\(tail.output.text)")
      #expect(!tail.errorOutput.text.contains("gap"), "\(tail.errorOutput.text)")
    }

    @Test func `a query of an archive without files says why it finds nothing`() throws {
      let broker = try TestBroker()
      let archiver = try TestArchiver(broker, ["--roll-age", "1h"])
      let run = try archiver.run("query", broker, ["--by", "event"])
      #expect(run.status == .exited(0) && run.output.isEmpty)
      #expect(run.errors.contains("the archive has no file yet"), "\(run.errors)")
      let none = try archiver.run("query", broker, ["--limit", "0"])
      #expect(none.errors.isEmpty, "\(none.errors)")
    }

    @Test(arguments: ["info", "verify", "repair"])
    func `a directory without a journal is told, and nothing is made there`(command: String) throws
    {
      let folder = try TemporaryFolder()
      let run = try Program.run(["journal", command, "--data", folder.path])
      #expect(run.status == .exited(1))
      #expect(run.errors.contains("there is no journal in \(folder.path)"), "\(run.errors)")
      #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
    }

    @Test func `a journal whose only file is damaged is one`() throws {
      let folder = try TemporaryFolder()
      let file = folder.file("00000000000000000000.segment")
      try "junk".write(toFile: file, atomically: true, encoding: .utf8)
      let run = try Program.run(["journal", "info", "--data", folder.path])
      #expect(run.status == .exited(1))
      #expect(run.errors.contains("is damaged: `eventbus journal verify`"), "\(run.errors)")
    }

    @Test func `a broker's directory whose place is missing is told with what to do`() throws {
      let folder = try TemporaryFolder()
      let run = try Program.run(["broker", "--data", folder.file("a/b"), "--port-base", "0"])
      #expect(run.status == .exited(74))
      #expect(run.errors.contains("the directory above it must be there"), "\(run.errors)")
    }

    @Test func `one stdin cannot be plan and events`() throws {
      for command in ["check", "try"] {
        let run = try Program.run(["plan", command, "-", "-"])
        #expect(run.status == .exited(2))
        #expect(run.errors.contains("only one of PLAN and FILE"), "\(run.errors)")
      }
      let empty = try Program.run(["plan", "check", "-", "/dev/null"])
      #expect(empty.errors.contains("stdin, line 1"), "\(empty.errors)")
    }

    @Test(arguments: [
      (["publish", "--count", "1", "--refused", "bad"], "--refused is for the lines of FILE"),
      (["publish", "--event", "A", "--producers", "2"], "--producers is for a load test"),
      (["publish", "--size", "10", "-"], "--size is for a load test"),
      (["publish", "--count", "1", "--size", "10", "-"], "--size is for made events"),
      (["tail", "--reset"], "--reset is for the filters of a --name"),
      (["tail", ""], "PATTERN is empty"), (["tail", "--exact", ""], "--exact is empty"),
      (["archiver", "--events", ""], "--events is empty"),
      (["plan", "infer", "--event", ""], "--event is empty"),
    ])
    func `an option that would change nothing is refused`(words: [String], message: String) throws {
      let run = try Program.run(words)
      #expect(run.status == .exited(2) && run.errorLines.count == 1, "\(run.errors)")
      #expect(run.errors.contains(message), "\(run.errors)")
    }

    @Test func `a directory that was typed and is not there is no healthy one`() throws {
      let broker = try TestBroker()
      let folder = try TemporaryFolder()
      let missing = folder.file("missing")
      for command in ["doctor", "status"] {
        let run = try Program.run([command, "--data", missing, "--bus", broker.bus])
        #expect(run.status == .exited(1))
        #expect(run.errors.contains("--data: there is no directory \(missing)"))
      }
    }
  }
}
