import Foundation
import TestSupport
import Testing

extension IntegrationTests {
  @Suite struct TopTests {
    @Test func `into a pipe it prints once what it sees`() throws {
      let broker = try TestBroker()
      _ = try broker.publish(lines: [#"{"event":"Game\u001b[2JEnded","userId":"u"}"#])
      let run = try Program.run(["top", "--bus", broker.bus, "--interval", "100ms"])
      #expect(run.status == .exited(0), "\(run.errors)")
      #expect(run.output.contains(#"Game\u{1B}[2JEnded"#), "\(run.output)")
      #expect(!run.output.contains("\u{1B}"))
    }

    /// A terminal of util-linux's `script`, whose keyboard is our pipe. Ctrl-C reaches the shell too, which
    /// must outlive it to say what the terminal is like afterwards: without a trap it sometimes ends first.
    private func onTerminal(_ broker: TestBroker) throws -> ChildProcess {
      try ChildProcess(
        "/usr/bin/script",
        [
          "-qec",
          "trap : INT; stty -a; \(Program.path) top --bus \(broker.bus) --interval 100ms;"
            + " echo code=$?; stty -a",
          "/dev/null",
        ])
    }

    @Test(arguments: ["q", "\u{3}"])
    func `a key or Ctrl-C gives the terminal back as it was`(_ key: String) throws {
      let broker = try TestBroker()
      let terminal = try onTerminal(broker)
      try #require(waitUntil { terminal.output.text.contains("events/s") })
      try terminal.write(key)
      #expect(terminal.wait() == .exited(0))
      let text = String(decoding: terminal.output.waitForEnd(), as: UTF8.self)
      #expect(text.contains("code=0"), "\(text)")
      let enter = try #require(text.range(of: "\u{1B}[?1049h"))
      let leave = try #require(text.range(of: "\u{1B}[?25h\u{1B}[?1049l"))
      #expect(enter.upperBound < leave.lowerBound)
      // Echo, lines and signals are as they were before.
      let before = text[..<enter.lowerBound]
      let after = try #require(text[leave.upperBound...].range(of: "code=0"))
      for setting in [" icanon", " echo ", " isig", "susp = ^Z"] {
        #expect(before.contains(setting) == text[after.upperBound...].contains(setting))
      }
    }

    @Test func `a bus that is not there is exit 69`() throws {
      let run = try Program.run(["top", "--bus", "tcp://127.0.0.1:1", "--timeout", "200ms"])
      #expect(run.status == .exited(69))
      #expect(run.errorLines.count == 1)
    }
  }
}
