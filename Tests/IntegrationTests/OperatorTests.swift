import Foundation
import Primitives
import TestSupport
import Testing

extension IntegrationTests {
  /// What a person at the terminal does, and is told.
  @Suite struct OperatorTests {
    private func consumers(_ broker: TestBroker, _ words: String...) throws -> Program.Run {
      try Program.run(["consumers"] + words + ["--json", "--bus", broker.bus])
    }

    @Test func `a tail to the end of a paused subscriber says so and fails`() throws {
      let broker = try TestBroker()
      _ = try broker.publish(["--event", "Game Started"])
      _ = try broker.stored(["--name", "reader"])
      _ = try broker.publish(["--event", "Game Started"])
      #expect(try consumers(broker, "pause", "reader").status == .exited(0))
      let run = try Program.run(["tail", "--bus", broker.bus, "--name", "reader", "--until-end"])
      #expect(run.status == .exited(1))
      #expect(run.errors.contains("'reader' is paused"), "\(run.errors)")
      #expect(run.output.isEmpty)
      // One that follows says it too, and goes on when it is resumed.
      let tail = try broker.tail(["--name", "reader", "--count", "1"])
      #expect(tail.errorOutput.waitForLine { $0.contains("'reader' is paused") } != nil)
      #expect(try consumers(broker, "resume", "reader").status == .exited(0))
      #expect(tail.wait() == .exited(0))
    }

    @Test func `a seek beyond the end says where the cursor is instead`() throws {
      let broker = try TestBroker()
      for _ in 0..<2 { _ = try broker.publish(["--event", "Game Started"]) }
      _ = try broker.stored(["--name", "reader"])
      let far = try consumers(broker, "seek", "reader", "900")
      #expect(far.status == .exited(0))
      #expect(far.output.contains("\"cursor\":2"), "\(far.output)")
      #expect(far.errors.contains("offset 900 lies beyond the end"), "\(far.errors)")
      #expect(far.errors.contains("the cursor is at 2"), "\(far.errors)")
      #expect(try consumers(broker, "seek", "reader", "1").errors.isEmpty)
    }

    @Test func `a counted tail commits exactly what it printed`() throws {
      let broker = try TestBroker()
      let lines = (0..<10).map { EventLine.track("Step", id: "S-\($0)") }
      #expect(try broker.publish(lines: lines).status == .exited(0))
      var ids: [String] = []
      for count in [3, 1, 4, 2] {
        let events = try broker.stored(["--name", "reader", "--count", "\(count)"])
        ids += events.messageIDs
        let shown = try consumers(broker, "show", "reader").output
        #expect(shown.contains("\"cursor\":\(ids.count),"), "\(shown)")
      }
      #expect(ids == (0..<10).map { "S-\($0)" })
    }

    @Test func `a name that is not UTF-8 is refused before anything is sent`() throws {
      let broker = try TestBroker()
      let run = try Program.shell(
        "exec \"$EVENTBUS\" publish --bus \(broker.bus) --event \"$(printf 'caf\\351')\"")
      #expect(run.wait() == .exited(2))
      let errors = run.errorOutput.text
      #expect(errors.contains("argument 5"), "\(errors)")
      #expect(errors.contains("the value of --event"), "\(errors)")
      #expect(errors.contains("is not UTF-8"), "\(errors)")
      #expect(try broker.stored().isEmpty)
    }

    @Test func `no control character reaches the terminal, whoever wrote it`() throws {
      let broker = try TestBroker()
      let escape = "\u{1B}[31mred"
      let missing = try broker.publish(["/tmp/none-\(escape)"])
      #expect(missing.status != .exited(0))
      #expect(missing.errors.contains("\\u{1B}[31mred"), "\(missing.errors)")
      #expect(!missing.errors.utf8.contains(0x1B))
      let line = "{\"event\":\"Step\",\"userId\":\"\\u001b[31mred\",\"properties\":{}}"
      #expect(try broker.publish(lines: [line]).status == .exited(0))
      let command =
        "exec \"$EVENTBUS\" tail --bus \(broker.bus) --since earliest --until-end --format csv"
      let pipe = try Program.shell(command)
      #expect(pipe.wait() == .exited(0))
      #expect(pipe.output.bytes.contains(0x1B), "a file gets the cell as it is")
      // `script` runs it on a terminal of its own.
      let terminal = try Program.shell(
        "exec script -qec \"$COMMAND\" /dev/null < /dev/null",
        environment: ["COMMAND": command])
      #expect(terminal.wait() == .exited(0), "\(terminal.errorOutput.text)")
      #expect(terminal.output.text.contains("\\u{1B}[31mred"), "\(terminal.output.text)")
      #expect(!terminal.output.bytes.contains(0x1B))
    }
  }
}
