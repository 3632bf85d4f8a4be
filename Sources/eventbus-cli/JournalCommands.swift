import EventJournal
import Primitives
import ServiceRuntime

/// `eventbus journal info|verify|repair`: the journal's files, without a broker.
enum JournalCommands {
  private static let data = OptionDefinition.option(
    "data", "DIR", help: "The broker's directory.", default: "./eventbus-data")

  static let entries: [Commands.Entry] = [
    Commands.Entry(
      definition: CommandDefinition(
        name: "journal info", group: "Administration",
        summary: "Shows segments, offsets, epochs and times; changes nothing.",
        options: [data, .json],
        examples: [
          CommandExample("eventbus journal info", "Of the default directory."),
          CommandExample("eventbus journal info --data /var/lib/eventbus --json", "For a script."),
        ]), run: info),
    Commands.Entry(
      definition: CommandDefinition(
        name: "journal verify", group: "Administration",
        summary: "Reads everything and names all damage; changes nothing. Exit 1 if there is any.",
        options: [data, .json],
        examples: [
          CommandExample("eventbus journal verify", "Also beside a running broker."),
          CommandExample("eventbus journal verify --json", "For a script."),
        ]), run: verify),
    Commands.Entry(
      definition: CommandDefinition(
        name: "journal repair", group: "Administration",
        summary: "Takes damage out so that a broker starts; what it removes is set aside.",
        options: [data, .json],
        examples: [
          CommandExample("eventbus journal repair", "With no broker running."),
          CommandExample(
            "eventbus journal repair --data /var/lib/eventbus", "Of another directory."),
        ]), run: repair),
  ]

  private static func info(_ context: Commands.Context) throws -> ExitCode {
    let directory = try context.arguments.requiredText("data")
    guard
      let info = try journal(
        in: directory,
        { () throws(JournalError) in
          try Journal.info(DirectoryStorage(path: directory))
        })
    else {
      throw CommandFailure(
        .failed, "the journal in \(directory) is damaged: `eventbus journal verify` says where")
    }
    if context.arguments.flag("json") {
      Terminal.output("\(JournalText.json(info))\n")
    } else {
      Terminal.output(JournalText.lines(info))
    }
    return .done
  }

  private static func verify(_ context: Commands.Context) throws -> ExitCode {
    let directory = try context.arguments.requiredText("data")
    let found = try journal(in: directory) { () throws(JournalError) in
      try Journal.verify(DirectoryStorage(path: directory))
    }
    if context.arguments.flag("json") {
      Terminal.output("\(JournalText.json(found))\n")
    } else {
      Terminal.output(JournalText.lines(found))
    }
    return found.damages.isEmpty ? .done : .failed
  }

  private static func repair(_ context: Commands.Context) throws -> ExitCode {
    let directory = try context.arguments.requiredText("data")
    let report = try journal(in: directory) { () throws(JournalError) in
      try Journal.repair(DirectoryStorage(path: directory), now: SystemClock.realtime())
    }
    if context.arguments.flag("json") {
      Terminal.output("\(JournalText.json(report))\n")
    } else {
      Terminal.output(JournalText.lines(report))
    }
    return .done
  }

  private static func journal<R>(
    in directory: String, _ body: () throws(JournalError) -> R
  ) throws -> R {
    guard try CommandFailure.isThere(directory) else {
      throw CommandFailure(
        .failed, "there is no directory \(directory): say where the broker's is with --data DIR")
    }
    do throws(JournalError) {
      if try Journal.isThere(DirectoryStorage(path: directory)) { return try body() }
    } catch .locked(let directory, let holder) {
      let error = JournalError.locked(directory: directory, holder: holder)
      throw CommandFailure(.dataDirectoryInUse, "\(error)")
    } catch {
      throw CommandFailure(.diskError, "\(error)")
    }
    // Nothing would be found wrong in it, and a repair would leave a lock there.
    throw CommandFailure(
      .failed, "there is no journal in \(directory): say where the broker's is with --data DIR")
  }
}
