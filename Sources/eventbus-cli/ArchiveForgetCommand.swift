import Archive
import EventCodec
import Primitives
import ServiceRuntime

/// `eventbus archive forget`: erases a person, everywhere, and gives a receipt.
enum ArchiveForgetCommand {
  static let entry = Commands.Entry(
    definition: CommandDefinition(
      name: "archive forget", group: "Archive",
      summary: "Asks every sink to erase a person, waits for the archive, and gives a receipt.",
      options: [
        .option("dir", "DIR", help: "The archive."),
        .option(
          "user", "ID",
          help:
            "Erase the events that have this userId, anonymousId or previousId, and no others: of "
            + "the ids that identify or alias joined to it, each has to be given."),
        .option("anonymous", "ID", help: "The same for a second id of the person."),
        .flag("yes", help: "Do not ask. What is erased cannot be brought back."),
        .flag("status", help: "Only show what became of earlier requests of this id."),
        .option(
          "timeout", "TIME", help: "How long to wait for the archiver to erase it.",
          default: "60s"),
        .flag("json", help: "The receipt as one line of JSON on stdout; it does not hold the id."),
      ],
      exclusive: [["yes", "status"]],
      examples: [
        CommandExample(
          "eventbus archive query --dir ./archive --user u42 --by userId,anonymousId,previousId",
          "Before: which ids the person has."),
        CommandExample(
          "eventbus archive forget --dir ./archive --user u42 --anonymous device-7",
          "A person under both ids."),
        CommandExample(
          "eventbus archive forget --dir ./archive --user u42 --status", "Is it done?"),
      ]),
    run: { context in
      try ArchiveForget(try ArchiveForgetSettings(context.arguments), context).run()
    })
}

/// The command line of `archive forget`, read and checked.
struct ArchiveForgetSettings {
  var directory: String
  var bus: String
  var request: ForgetRequest
  var isConfirmed: Bool
  var asksOnly: Bool
  var timeout: Duration
  var json: Bool

  init(_ arguments: Arguments) throws(UsageError) {
    directory = try arguments.requiredText("dir")
    bus = try arguments.requiredText("bus")
    guard
      let request = ForgetRequest(
        userId: arguments.text("user"), anonymousId: arguments.text("anonymous"))
    else { throw UsageError("nobody is named: give --user ID or --anonymous ID, not empty") }
    self.request = request
    isConfirmed = arguments.flag("yes")
    asksOnly = arguments.flag("status")
    timeout = try arguments.value("timeout", as: Duration.self)
    json = arguments.flag("json")
  }

  var ids: [String] { [request.userId, request.anonymousId].compactMap { $0 } }
}
