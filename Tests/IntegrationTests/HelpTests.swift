import Foundation
import Primitives
import TestSupport
import Testing

extension IntegrationTests {
  @Suite struct HelpTests {
    /// What bash would offer behind these words.
    private func completions(_ words: [String]) throws -> [String] {
      let list = words.map { "'" + $0.replacing("'", with: "'\\''") + "'" }.joined(separator: " ")
      let shell = try ChildProcess(
        "/bin/bash",
        [
          "-c",
          """
          eval "$("$EVENTBUS" completions bash)" || exit 9
          compopt() { :; }
          COMP_WORDS=("$EVENTBUS" \(list)); COMP_CWORD=\(words.count); _eventbus
          printf '%s\\n' "${COMPREPLY[@]}"
          """,
        ], environment: ["EVENTBUS": Program.path])
      try #require(shell.wait() == .exited(0), "\(shell.errorOutput.text)")
      return String(decoding: shell.output.waitForEnd(), as: UTF8.self)
        .split(separator: "\n").map(String.init)
    }

    @Test func `bash completes commands, options and values`() throws {
      #expect(try completions(["dead"]) == ["deadletters"])
      #expect(try completions(["archive", "re"]) == ["replay"])
      #expect(try completions(["bench", "--sub"]) == ["--subscribers"])
      #expect(try completions(["bench", "--mode", ""]) == ["durable", "live"])
      #expect(try completions(["completions", "z"]) == ["zsh"])
    }

    @Test func `event names come from the bus, quoted for the shell`() throws {
      let broker = try TestBroker()
      for name in ["Game Started", "Game Ended", "Other", "Game $(touch x)"] {
        _ = try broker.publish(["--event", name])
      }
      #expect(
        try completions(["tail", "--bus", broker.bus, "Game"]).sorted()
          == [#"Game\ Ended"#, #"Game\ Started"#, #"Game\ \$\(touch\ x\)"#])
      #expect(
        try completions(["tail", "--bus", broker.bus, #"Game\ S"#]) == [#"Game\ Started"#])
      #expect(
        try completions(["tail", "--bus", broker.bus, "--exact", "'Game E"]) == ["Game Ended"])
    }

    @Test func `a bus that is away costs a moment, not the completion`() throws {
      let start = SystemClock.monotonic()
      #expect(try completions(["tail", "--bus", "tcp://127.0.0.1:1", "x"]).isEmpty)
      #expect(SystemClock.monotonic() - start < Sanitizer.patience(.seconds(5)))
    }

    private static let hasFish = FileManager.default.isExecutableFile(atPath: "/usr/bin/fish")
    private static let hasZsh = FileManager.default.isExecutableFile(atPath: "/usr/bin/zsh")

    /// A shell in which `eventbus` is this program.
    private func shell(_ path: String, _ script: String) throws -> [String] {
      let folder = URL(fileURLWithPath: Program.path).deletingLastPathComponent().path
      let shell = try ChildProcess(
        path, ["-f", "-c", script].filter { path.hasSuffix("zsh") || $0 != "-f" },
        environment: ["PATH": folder + ":/usr/bin:/bin"])
      try #require(shell.wait() == .exited(0), "\(shell.errorOutput.text)")
      return String(decoding: shell.output.waitForEnd(), as: UTF8.self)
        .split(separator: "\n").map(String.init)
    }

    @Test(.enabled(if: hasFish, "needs fish"))
    func `fish completes from the same answers`() throws {
      let offered = try shell(
        "/usr/bin/fish",
        "eventbus completions fish | source; complete -C 'eventbus bench --mode '")
      #expect(offered == ["durable", "live"])
    }

    @Test(.enabled(if: hasZsh, "needs zsh"))
    func `zsh completes from the same answers`() throws {
      // Outside the line editor there is no compadd: this one prints what it is given.
      let offered = try shell(
        "/usr/bin/zsh",
        """
        compdef() { :; }
        compadd() { print -rl -- "${(@P)5}"; }
        eval "$(eventbus completions zsh)"
        words=(eventbus bench --mode ""); CURRENT=4; _eventbus
        """)
      #expect(offered == ["durable", "live"])
    }

    @Test func `every command has a page, for people and for man`() throws {
      let overview = try Program.run(["help"])
      let names = overview.lines.filter { $0.hasPrefix("  ") }.compactMap { line in
        line.dropFirst(2).prefix(while: { $0 != " " }).isEmpty
          ? nil : line.dropFirst(2).split(separator: "  ").first.map(String.init)
      }
      try #require(names.count > 30)
      for name in names {
        let words = name.split(separator: " ").map(String.init)
        let page = try Program.run(["help"] + words)
        #expect(page.status == .exited(0), "\(name)")
        #expect(page.output.contains("\nExit codes:\n"), "\(name)")
        #expect(page.output.contains("\nExamples:\n"), "\(name)")
        let manual = try Program.run(["man"] + words)
        #expect(manual.output.hasPrefix(".TH \"EVENTBUS-"), "\(name)")
      }
    }
  }
}
