import Archive
import BusProtocol
import Primitives
import ServiceRuntime

/// `eventbus archive verify`: reads every byte of an archive.
enum ArchiveVerifyCommand {
  static let entry = Commands.Entry(
    definition: CommandDefinition(
      name: "archive verify", group: "Archive",
      summary: "Reads everything and names all damage; changes nothing. Exit 1 if there is any.",
      options: [
        .option("dir", "DIR", help: "The archive."),
        .json,
      ],
      examples: [
        CommandExample(
          "eventbus archive verify --dir ./archive", "Also beside a running archiver."),
        CommandExample("eventbus archive verify --dir ./archive --json", "For a script."),
      ]), run: run)

  private static func run(_ context: Commands.Context) throws -> ExitCode {
    let directory = try context.arguments.requiredText("dir")
    var verification = ArchiveVerification(directory)
    let interruption = context.interruption
    verification.isCancelled = { interruption.isRequested }
    let progress = LibraryProgress("verify")
    verification.onProgress = { progress.update($0, of: $1) }
    let findings = try CommandFailure.translating { () throws(ArchiveError) in
      try verification.run()
    }
    progress.finish()
    if let code = interruption.code { return code }
    Terminal.output(
      context.arguments.flag("json") ? "\(json(findings))\n" : text(findings, directory))
    return findings.damageCount == 0 ? .done : .failed
  }

  private static func text(_ findings: ArchiveFindings, _ directory: String) -> String {
    var lines = ArchiveDamageText.lines(findings, directory)
    lines += findings.strayFiles.map { "not in the catalogue: \(directory)/\($0)" }
    lines.append(
      "\(findings.parts.counted("part")), \(findings.events.counted("event")), \(findings.bytes.counted("byte")): "
        + (findings.damageCount == 0 ? "no damage" : findings.damageCount.counted("damaged place")))
    return lines.map { TerminalText.escape($0) + "\n" }.joined()
  }

  private static func json(_ findings: ArchiveFindings) -> JSONText {
    .object([
      .init("parts", .integer(Int64(findings.parts))),
      .init("events", .integer(Int64(clamping: findings.events))),
      .init("bytes", .integer(Int64(clamping: findings.bytes))),
      .init("damaged", .integer(Int64(findings.damageCount))),
      .init("damages", .list(findings.damages.map(json))),
      .init("notInCatalogue", .list(findings.strayFiles.map { .text($0) })),
    ])
  }

  private static func json(_ damage: PartDamage) -> JSONText {
    .object([
      .init("file", .text(damage.file)), .init("byte", .integer(Int64(clamping: damage.byte))),
      .init("reason", .text(damage.reason)),
      .init("lastGoodEpoch", damage.lastGood.map { .integer(Int64($0.epoch)) } ?? .null),
      .init(
        "lastGoodOffset", damage.lastGood.map { .integer(Int64(clamping: $0.offset)) } ?? .null),
    ])
  }
}
