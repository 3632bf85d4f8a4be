import TestSupport
import Testing

extension IntegrationTests {
  /// A path that is written wrong finds nothing, and is told of.
  @Suite struct UnseenPathTests {
    private static let lines = [
      #"{"event":"Step","userId":"u","properties":{"plan":"pro"}}"#,
      #"{"event":"Step","userId":"u","properties":{"level":1}}"#,
      #"{"event":"Step","userId":"v"}"#,
    ]

    @Test func `a path that no event had is told of at the end, and a rare one is not`() throws {
      let broker = try TestBroker()
      let archiver = try TestArchiver(broker)
      #expect(try broker.publish(lines: Self.lines).status == .exited(0))
      #expect(archiver.waitForCursor(Self.lines.count))
      let tail = ["tail", "--bus", broker.bus, "--since", "earliest", "--until-end"]
      let query = ["archive", "query", "--dir", archiver.directory]
      func note(_ option: String, _ path: String = "properties.plna") -> String {
        "note: none of 3 events has '\(path)' (--\(option))"
      }
      let rows: [([String], [String], [String])] = [
        (tail, ["--where", "properties.plna=pro"], [note("where")]),
        (tail, ["--where", "properties.plan=free"], []),
        // Both are satisfied by what is absent.
        (tail, ["--where", "properties.plna!=pro"], []),
        (tail, ["--where", "properties.plna=null"], []),
        (tail, ["Nothing", "--where", "properties.plna=pro"], []),
        (tail, ["--template", "{properties.plna} {properties.plan}"], [note("template")]),
        (tail, ["--where", "n>5"], [note("where", "n")]),
        (query, ["--where", "properties.plna=pro"], [note("where")]),
        (query, ["--where", "n>5"], [note("where", "n")]),
        (query, ["--where", "properties.plna=pro", "--count"], [note("where")]),
        (query, ["--where", "properties.plan=free"], []),
        (query, ["--where", "properties.plna!=pro"], []),
        (query, ["--select", "userId,properties.plna"], [note("select")]),
        (query, ["--select", "userId,properties.plan"], []),
        (query, ["--by", "event,properties.plna"], [note("by")]),
        (query, ["--by", "properties.level"], []),
      ]
      for (command, arguments, notes) in rows {
        let run = try Program.run(command + arguments)
        #expect(run.status == .exited(0), "\(run.errors)")
        #expect(run.errorLines == notes, "\(arguments)")
      }
    }
  }
}
