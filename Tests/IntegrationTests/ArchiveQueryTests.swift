import Foundation
import Primitives
import TestSupport
import Testing

extension IntegrationTests {
  /// What was archived, found again by the commands.
  @Suite struct ArchiveQueryTests {
    let broker: TestBroker
    let archiver: TestArchiver

    init() throws {
      broker = try TestBroker()
      archiver = try TestArchiver(broker)
    }

    /// Publishes, and waits until it is in the archive's files.
    private func archive(_ lines: [String], refused: Bool = false) throws {
      let run = try broker.publish(lines: lines)
      #expect(run.status == .exited(refused ? 3 : 0), "\(run.errors)")
      let stored = try broker.stored().count
      #expect(archiver.waitForCursor(stored))
    }

    private func query(_ arguments: String..., expecting code: Int32 = 0) throws -> Program.Run {
      let run = try Program.run(["archive", "query", "--dir", archiver.directory] + arguments)
      #expect(run.status == .exited(code), "\(run.errors)")
      return run
    }

    private func parts() throws -> [String] {
      let files = try FileManager.default.subpathsOfDirectory(atPath: archiver.directory)
      return files.filter { $0.hasSuffix(".zst") }
        .sorted { $0.compare($1, options: .numeric) == .orderedAscending }
        .map { archiver.directory + "/" + $0 }
    }

    @Test func `each odd name is found by itself, byte for byte`() throws {
      let names = [
        "-rf", "*", "${HOME}", "a|b", "Game/Started", "--help", "\\\\*", " x ", "A", "AB",
      ]
      let lines =
        try Inputs.lines("N01.ndjson")
        ?? names.enumerated().map { EventLine.track($0.element, id: "n\($0.offset)") }
      try archive(lines)
      let given = try lines.map { try JSONValue(text: $0) }.names
      for name in given {
        let found = try query("--exact=\(name)", "--format", "ndjson").events().names
        #expect(found.map { Array($0.utf8) } == [Array(name.utf8)])
      }
      let counts = try query("--by", "event").events()
      #expect(counts.count == given.count && counts.allSatisfy { $0["count"]?.int == 1 })
    }

    @Test func `whole numbers keep their digits, and true, 1 and texts are groups of their own`()
      throws
    {
      let ids = [
        "9007199254740993", "18446744073709551615", "-9223372036854775808", "1e2", "100.5",
      ]
      let flags = ["true", "1", "\"1\"", "\"true\"", "1.0", "false"]
      try archive(
        ids.enumerated().map {
          EventLine.track("V", id: "v\($0.offset)", properties: "{\"id\":\($0.element)}")
        }
          + flags.enumerated().map {
            EventLine.track("Flag", id: "f\($0.offset)", properties: "{\"on\":\($0.element)}")
          })
      let found = try query("--event", "V", "--select", "properties.id").lines
      #expect(
        found
          == ["9007199254740993", "18446744073709551615", "-9223372036854775808", "100.0", "100.5"]
          .map { "{\"properties.id\":\($0)}" })
      let groups = try query("--event", "Flag", "--by", "properties.on").lines
      #expect(Set(groups) == Set(flags.map { "{\"properties.on\":\($0),\"count\":1}" }))
      let table = try query("--event", "Flag", "--by", "properties.on", "--format", "table").lines
      #expect(
        Set(table.dropFirst().map { $0.split(separator: " ")[0] }) == Set(flags.map { $0[...] }))
      for on in flags {
        let one = try query("--where", "properties.on=\(on)", "--count")
        // Numbers are compared by their value.
        #expect(one.lines == ["{\"count\":\(on.hasPrefix("1") ? 2 : 1)}"], "\(on)")
      }
    }

    @Test func `damage is named, costs no other file, and is found by verify`() throws {
      for batch in 0..<3 {
        try archive(
          EventLine.load(batch * 400..<batch * 400 + 400).split(separator: "\n").map(String.init))
      }
      let whole = try query("--format", "ndjson").lines
      #expect(whole.count == 1200)
      let files = try parts()
      let (old, new) = (try #require(files.first), try #require(files.last))
      try #require(old != new)
      let (oldBytes, newBytes) = (
        try Data(contentsOf: URL(fileURLWithPath: old)),
        try Data(contentsOf: URL(fileURLWithPath: new))
      )
      for cut in [1, 9, 1000] {
        try newBytes.dropLast(cut).write(to: URL(fileURLWithPath: new))
        let run = try query("--format", "ndjson", expecting: 1)
        #expect(run.errors.contains(new) && run.errors.contains("byte 0"))
        #expect(whole.starts(with: run.lines) && run.lines.count < 1200)
        let verify = try Program.run(["archive", "verify", "--dir", archiver.directory])
        #expect(verify.status == .exited(1) && verify.output.contains("damaged: \(new)"))
      }
      try newBytes.write(to: URL(fileURLWithPath: new))
      var flipped = oldBytes
      flipped[oldBytes.count / 2] ^= 0x10
      try flipped.write(to: URL(fileURLWithPath: old))
      let run = try query("--format", "ndjson", expecting: 1)
      #expect(run.errors.contains(old))
      // All other files are given whole.
      #expect(whole.reversed().starts(with: run.lines.reversed()) && !run.lines.isEmpty)
      #expect(try query("--count").lines == ["{\"count\":1200}"])
      try oldBytes.write(to: URL(fileURLWithPath: old))
      let verify = try Program.run(["archive", "verify", "--dir", archiver.directory])
      #expect(verify.status == .exited(0), "\(verify.output)")
    }

    @Test func `parts outside a time are not opened, beside the archiver and after it`() throws {
      try archive([EventLine.track("A", id: "a1"), EventLine.track("B", id: "b1")])
      let later = EventLine.track("A", id: "a2").replacingOccurrences(
        of: "2024-05", with: "2025-05")
      try archive([later])
      func stats() throws -> JSONValue {
        let run = try query("--from", "2025-01-01", "--format", "ndjson", "--json")
        #expect(run.lines.count == 2 && run.lines[0].contains("\"a2\""))
        return try JSONValue(text: try #require(run.lines.last))
      }
      let beside = try stats()
      #expect(
        (beside["parts"]?.int ?? 0) >= 2 && beside["opened"]?.int == 1 && beside["read"]?.int == 1)
      #expect(archiver.stop() == .exited(0))
      let files = try FileManager.default.subpathsOfDirectory(atPath: archiver.directory)
      #expect(try stats()["opened"]?.int == 1)
      #expect(try FileManager.default.subpathsOfDirectory(atPath: archiver.directory) == files)
    }

    @Test func `a reader that leaves is no fault, and nothing raw reaches a table`() throws {
      try archive(
        EventLine.load(0..<3000).split(separator: "\n").map(String.init)
          + [EventLine.track("Bell", id: "x", properties: "{\"t\":\"\\u001b[2J\\u009b\"}")])
      let head = try Program.shell("$EVENTBUS archive query --dir \(archiver.directory) | head -1")
      #expect(head.wait() == .exited(0))
      #expect(head.errorOutput.text.isEmpty)
      #expect(head.output.text.split(separator: "\n").count == 1)
      let table = try query("--event", "Bell", "--format", "table", "--select", "properties.t")
      #expect(table.lines.last == "\\u{1B}[2J\\u{9B}")
    }

    @Test func `small parts of a past hour become one while others read`() throws {
      guard let later = FakeTime.hourOn else { return }
      for batch in 0..<4 {
        try archive(
          EventLine.load(batch * 50..<batch * 50 + 50).split(separator: "\n").map(String.init))
      }
      let before = try query("--format", "ndjson").lines
      let compact = try later.start(["archive", "compact", "--dir", archiver.directory])
      for _ in 0..<5 { #expect(try query("--format", "ndjson").lines == before) }
      #expect(compact.wait() == .exited(0), "\(compact.errorOutput.text)")
      #expect(try query("--format", "ndjson").lines == before)
      #expect(try parts().count < 4)
      let verify = try Program.run(["archive", "verify", "--dir", archiver.directory])
      #expect(verify.status == .exited(0), "\(verify.output)")
    }

    @Test func `DuckDB counts the same, and where it is absent that is said in one line`() throws {
      try archive(EventLine.load(0..<500).split(separator: "\n").map(String.init))
      let sql = ["archive", "sql", "--dir", archiver.directory, "--format", "csv"]
      let absent = try Program.shell(
        "PATH=/nowhere $EVENTBUS archive sql --dir \(archiver.directory) 'SELECT 1'")
      #expect(absent.wait() == .exited(1))
      #expect(absent.errorOutput.text.contains("pip install duckdb"))
      #expect(absent.errorOutput.text.split(separator: "\n").count == 1)
      let run = try Program.run(
        sql + ["SELECT event, count(*) AS count FROM events GROUP BY 1 ORDER BY 2 DESC, 1"])
      if run.errors.contains("pip install duckdb") {
        print(
          "integration tests: DuckDB is not installed (pip install duckdb); its test is skipped")
        return
      }
      #expect(run.status == .exited(0), "\(run.errors)")
      #expect(run.lines == (try query("--by", "event", "--format", "csv").lines))
      let bar = try Program.run(sql + ["SELECT current_setting('enable_progress_bar') AS bar"])
      #expect(bar.lines.last?.lowercased() == "false", "no bar among the rows of a pipe")
      let wrong = try Program.run(sql + ["SELECT nothing FROM nowhere"])
      #expect(wrong.status == .exited(1))
    }

    @Test func `damage is named with file, place and what to do, by DuckDB's command too`() throws {
      try archive(EventLine.load(0..<5000).split(separator: "\n").map(String.init))
      let path = try #require(try parts().max { try size($0) < size($1) })
      let whole = try Data(contentsOf: URL(fileURLWithPath: path))
      var changed = whole
      changed[whole.count / 2] ^= 0x10
      try changed.write(to: URL(fileURLWithPath: path))
      let count = ["SELECT count(*), count(properties) FROM events"]
      let replay = ["replay", "--to", "x", "--any-name", "--dry-run"]
      for words in [["query", "--format", "ndjson"], ["verify"], replay, ["sql"] + count] {
        let run = try Program.run(["archive", words[0], "--dir", archiver.directory] + words[1...])
        if run.errors.contains("pip install duckdb") { continue }
        let told = words[0] == "verify" ? run.output : run.errors
        #expect(run.status == .exited(1), "\(told)")
        #expect(told.contains("\(path), byte "), "\(words): \(told)")
        #expect(told.contains("this frame cannot be unpacked"), "\(told)")
        #expect(told.contains("what to do: put the file back from a copy"), "\(told)")
        #expect(told.contains("the last good event has offset") || told.contains("no event before"))
      }
      // DuckDB would not see that a file ends early, where that is between two frames.
      try Data().write(to: URL(fileURLWithPath: path))
      let cut = try Program.run(["archive", "sql", "--dir", archiver.directory] + count)
      #expect(cut.status != .exited(0) && cut.output.isEmpty)
      #expect(cut.errors.contains("\(path), byte 0: the file has 0 bytes, and the catalogue says"))
    }

    @Test func `a directory may have any name`() throws {
      let odd = broker.folder.file("an 'odd' [name]* of \"100%\" Zürich")
      let other = try TestArchiver(broker, directory: odd, ["--name", "other"])
      try archive(EventLine.load(0..<50).split(separator: "\n").map(String.init))
      #expect(other.waitForCursor(50))
      for words in [
        ["query", "--count"], ["sql", "--format", "csv", "SELECT count(*) FROM events"],
      ] {
        let run = try Program.run(["archive", words[0], "--dir", odd] + words[1...])
        if run.errors.contains("pip install duckdb") { continue }
        #expect(run.status == .exited(0) && run.output.contains("50"), "\(run.errors)")
      }
      #expect(other.stop() == .exited(0))
    }

    private func size(_ path: String) throws -> Int {
      try Data(contentsOf: URL(fileURLWithPath: path)).count
    }
  }
}
