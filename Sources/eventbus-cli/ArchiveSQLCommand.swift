import Archive
import Primitives
import ServiceRuntime

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// `eventbus archive sql`: gives the archive to DuckDB, where it is installed.
enum ArchiveSQLCommand {
  static let entry = Commands.Entry(
    definition: CommandDefinition(
      name: "archive sql", group: "Archive",
      summary: "Runs SQL over the archive's events by DuckDB, if that is installed.",
      positionals: [
        PositionalDefinition(
          "QUERY",
          help:
            "SQL over the view events: type, event, messageId, userId, anonymousId, timestamp (UTC), "
            + "properties and so on; properties, traits, context and integrations are JSON, as "
            + "properties->>'plan'.")
      ],
      options: [
        .option("dir", "DIR", help: "The archive."),
        .option(
          "format", "FORMAT", help: "table, ndjson or csv.", default: "table",
          choices: ["table", "ndjson", "csv"]),
      ],
      examples: [
        CommandExample(
          "eventbus archive sql --dir ./archive \"SELECT event, count(*) FROM events GROUP BY 1\"",
          "Names and their counts."),
        CommandExample(
          "eventbus archive sql --dir ./archive \"SELECT properties->>'plan', count(DISTINCT userId) "
            + "FROM events GROUP BY ALL\"", "By a property."),
      ]), run: run)

  private static func run(_ context: Commands.Context) throws -> ExitCode {
    let directory = try context.arguments.requiredText("dir")
    let query = context.arguments.positionals.first ?? ""
    let format = try context.arguments.requiredText("format")
    // Held on by DuckDB: a compaction would take the files away that it is told to read.
    let lock = try keepFiles(of: directory, context.interruption)
    if let code = context.interruption.code { return code }
    let (paths, damages) = try CommandFailure.translating { () throws(ArchiveError) in
      try ArchiveQuery(directory).checkedFiles()
    }
    // DuckDB would not notice where a file ends early, between two frames.
    guard damages.isEmpty else {
      for damage in damages.prefix(10) {
        Terminal.error(
          TerminalText.escape(
            "eventbus archive sql: damaged: \(directory)/\(damage.file), byte \(damage.byte): "
              + damage.reason))
      }
      throw CommandFailure(
        .failed, "\(damages.count) of \(paths.count) files are damaged: \(ArchiveDamageText.advice)"
      )
    }
    // In a pipe there is nobody to look at a bar, and it would stand among the rows.
    let bar = isatty(1) == 1 && isatty(2) == 1
    let script = "SET enable_progress_bar = \(bar);\n" + ArchiveSQLView.statement(files: paths)
    // The statement can be longer than an argument may be, so it goes through a file without a name.
    let file = try temporaryFile(script + "\n" + query + "\n;\n")
    lock?.outlivesExec()
    let outcome = try DuckDBProgram.run(
      script: file, format: format, context.interruption)
    _ = consume lock
    if let code = context.interruption.code { return code }
    // Whoever read its output has seen enough, as with `head`.
    guard outcome.status != 0, outcome.status != 128 + SIGPIPE else { return .done }
    if mayBeDamage(outcome.said) { try nameDamage(directory, context.interruption) }
    return .failed
  }

  /// What DuckDB says of files that it cannot read; where they lie it does not always say.
  private static func mayBeDamage(_ text: String) -> Bool {
    ["IO Error", "Malformed JSON", "ZSTD", "zstd"].contains { text.contains($0) }
  }

  /// Looks for the file and the place.
  private static func nameDamage(
    _ directory: String, _ interruption: Interruption
  ) throws {
    Terminal.error("eventbus archive sql: looking for what is damaged")
    var verification = ArchiveVerification(directory)
    verification.isCancelled = { interruption.isRequested }
    let findings = try CommandFailure.translating { () throws(ArchiveError) in
      try verification.run()
    }
    for line in ArchiveDamageText.lines(findings, directory) { Terminal.error(line) }
    if findings.damageCount == 0, !interruption.isRequested {
      Terminal.error("the archive is undamaged")
    }
  }

  /// Waits while parts are replaced. Nil where there is no lock, or none that may be opened: then the one
  /// who could replace them is not here.
  private static func keepFiles(
    of directory: String, _ interruption: Interruption
  ) throws -> ArchiveLock? {
    var hasTold = false
    while !interruption.isRequested {
      do throws(ArchiveError) {
        return try ArchiveLock(keepingFilesOf: directory)
      } catch {
        guard error.kind == .inUse else { return nil }
        if !hasTold { Terminal.error("eventbus archive sql: waiting: \(error.text)") }
        hasTold = true
        interruption.wait(milliseconds: 100)
      }
    }
    return nil
  }

  private static func temporaryFile(_ text: String) throws -> Int32 {
    guard let file = unsafe tmpfile() else {
      throw CommandFailure(.failed, "\(SystemError.last("tmpfile"))")
    }
    let descriptor = unsafe fileno(file)
    var output = StandardOutput(descriptor: descriptor)
    try output.write(text)
    try output.flush()
    try SystemError.check("lseek", "the script") { lseek(descriptor, 0, SEEK_SET) }
    return descriptor
  }
}
