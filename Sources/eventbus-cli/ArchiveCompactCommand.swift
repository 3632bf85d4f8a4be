import Archive
import Primitives
import ServiceRuntime

/// `eventbus archive compact`: puts small parts together.
enum ArchiveCompactCommand {
  static let entry = Commands.Entry(
    definition: CommandDefinition(
      name: "archive compact", group: "Archive",
      summary: "Puts small parts of closed hours together, also beside the archiver and readers.",
      options: [
        .option("dir", "DIR", help: "The archive."),
        .option("roll-bytes", "SIZE", help: "What a part may have.", default: "64MiB"),
        .json,
      ],
      examples: [
        CommandExample("eventbus archive compact --dir ./archive", "As often as you like."),
        CommandExample(
          "eventbus archive compact --dir ./archive --roll-bytes 256MiB", "To larger parts."),
      ]), run: run)

  private static func run(_ context: Commands.Context) throws -> ExitCode {
    let directory = try context.arguments.requiredText("dir")
    let size = try context.arguments.value("roll-bytes", as: ByteSize.self)
    guard size.bytes > 0 else { throw UsageError("--roll-bytes must be more than 0") }
    var compaction = ArchiveCompaction(directory, partBytes: UInt64(size.bytes))
    let interruption = context.interruption
    compaction.isCancelled = { interruption.isRequested }
    let progress = LibraryProgress("compact")
    compaction.onProgress = { progress.update($0, of: $1) }
    defer { progress.finish() }
    let report = try CommandFailure.translating { () throws(ArchiveError) in
      try compaction.run(now: SystemClock.realtime())
    }
    for damage in report.damages {
      Terminal.error(
        "eventbus archive compact: damaged: \(directory)/\(damage): its part and those beside it stay as they are"
      )
    }
    if context.arguments.flag("json") {
      let summary = JSONText.object([
        .init("partsBefore", .integer(Int64(report.partsBefore))),
        .init("partsAfter", .integer(Int64(report.partsAfter))),
        .init("partsWaiting", .integer(Int64(report.partsWaiting))),
        .init("bytesRead", .integer(Int64(clamping: report.bytesRead))),
        .init("bytesWritten", .integer(Int64(clamping: report.bytesWritten))),
        .init("damaged", .integer(Int64(report.damages.count))),
      ])
      Terminal.output("\(summary)\n")
    } else {
      Terminal.output(
        "\(report.partsBefore.counted("part")) became \(report.partsAfter): "
          + "\(report.bytesRead.counted("byte")) read, \(report.bytesWritten) written\n")
      if report.partsWaiting > 0 {
        Terminal.output(
          "\(report.partsWaiting.counted("part waits", "parts wait")) until the running hour (UTC) is over\n"
        )
      }
    }
    if let code = interruption.code { return code }
    return report.damages.isEmpty ? .done : .failed
  }
}
