import Database
import Destinations
import EventCodec
import Primitives
import ServiceRuntime

/// What changes dead letters.
enum DeadLetterChanges {
  /// Does `body` to each that is meant. They are chosen first, then changed, each in one statement, so
  /// that the publisher is never kept waiting.
  static func change(
    _ context: Commands.Context, did word: String,
    _ body: (Int64, borrowing Database) throws(DatabaseError) -> Bool
  ) throws -> ExitCode {
    let selected = try DeadLetterSelection(context.arguments)
    let database = try selected.open()
    var ids: [Int64] = []
    try selected.forEach(database) { ids.append($0.id) }
    try selected.checkIDs(found: ids)
    let isDryRun = context.arguments.flag("dry-run")
    var count = 0
    if !isDryRun {
      do throws(DatabaseError) {
        for id in ids where try body(id, database) { count += 1 }
      } catch { throw CommandFailure(.diskError, "\(error)") }
    }
    say(isDryRun ? ids.count : count, word, isDryRun, selected, context)
    return .done
  }

  private static func say(
    _ count: Int, _ word: String, _ isDryRun: Bool, _ selected: DeadLetterSelection,
    _ context: Commands.Context
  ) {
    let isRunning = selected.folder.isInUse
    if context.arguments.flag("json") {
      let line = JSONText.object([
        .init("destination", .text(selected.destination)), .init(word, .integer(Int64(count))),
        .init("dryRun", .boolean(isDryRun)), .init("publisherRuns", .boolean(isRunning)),
      ])
      return Terminal.output("\(line)\n")
    }
    let letters = "\(count) dead letter\(count == 1 ? "" : "s")"
    var text = isDryRun ? "\(letters) would be \(word)" : "\(letters) \(word)"
    if word == "queued", !isDryRun, count > 0 {
      text +=
        isRunning
        ? "; the publisher sends them now, and each goes away once it is delivered"
        : "; the publisher does not run: they are sent at its next start"
    }
    Terminal.output(text + "\n")
  }

  static func edit(_ context: Commands.Context) throws -> ExitCode {
    let selected = try DeadLetterSelection(context.arguments)
    let letter = try selected.find(context.arguments.positionals[0])
    let path = context.arguments.positionals[1]
    let file = try InputFile(path == "-" ? nil : path, interruption: context.interruption)
    var text: [UInt8] = []
    while let chunk = try file.read() {
      text += chunk
      guard text.count <= 4 << 20 else { throw UsageError("\(path) is larger than 4 MiB") }
    }
    let payload: [UInt8]
    do throws(CodecError) {
      payload = try DeadLetterCorrection(of: letter).payload(text)
    } catch { throw CommandFailure(.someInputRefused, "\(path): \(error)") }
    if context.arguments.flag("dry-run") {
      Terminal.output("dead letter \(letter.id) would hold this event\n")
      return .done
    }
    let database = try selected.open()
    let isDone: Bool
    do throws(DatabaseError) {
      isDone = try DeadLetters.edit(letter.id, payload: payload, in: database)
    } catch { throw CommandFailure(.diskError, "\(error)") }
    guard isDone else {
      throw CommandFailure(
        .failed, "dead letter \(letter.id) is being sent again or is gone: nothing was changed")
    }
    Terminal.output(
      context.arguments.flag("json")
        ? "\(JSONText.object([.init("edited", .integer(letter.id))]))\n"
        : "dead letter \(letter.id) is edited; `\(redriving(letter.id, selected, context))` sends it\n"
    )
    return .done
  }

  /// The command that follows, to be pasted into a shell.
  private static func redriving(
    _ id: Int64, _ selected: DeadLetterSelection, _ context: Commands.Context
  ) -> String {
    var words = ["eventbus deadletters redrive --destination", quoted(selected.destination)]
    if let data = context.arguments.text("data"), data != "./eventbus-data" {
      words += ["--data", quoted(data)]
    }
    return (words + ["--id \(id)"]).joined(separator: " ")
  }

  private static func quoted(_ text: String) -> String {
    let isPlain = text.utf8.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-")...UInt8(ascii: "/"),
        UInt8(ascii: "_"):
        true
      default: false
      }
    }
    if isPlain, !text.isEmpty { return text }
    return "'" + TerminalText.escape(text).replacing("'", with: "'\\''") + "'"
  }
}
