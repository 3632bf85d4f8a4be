import Database
import Destinations
import EventCodec
import Primitives
import ServiceRuntime

/// Which dead letters of which destination a command is about.
struct DeadLetterSelection {
  let destination: String
  let folder: DestinationFolder
  private var clauses: [WhereClause] = []
  private var ids: Set<Int64> = []
  private var reasons: [String] = []

  init(_ arguments: Arguments) throws {
    let data = try arguments.requiredText("data")
    destination = try arguments.requiredText("destination")
    folder = DestinationFolder(data: data, name: destination)
    guard try CommandFailure.isThere(folder.stateFile) else {
      let known = DestinationFolder.all(data: data).map(\.folderName).joined(separator: ", ")
      throw CommandFailure(
        .failed,
        "there is no destination '\(TerminalText.escape(destination))' in \(data)/destinations; "
          + (known.isEmpty ? "there is none" : "there is \(TerminalText.escape(known))"))
    }
    guard arguments.command.option("where") != nil else { return }
    for text in arguments.texts("where") {
      do throws(WhereClause.SyntaxError) {
        clauses.append(try WhereClause(text))
      } catch { throw UsageError("--where: \(error)") }
    }
    for text in arguments.texts("id") { ids.insert(try Self.number(text)) }
    reasons = arguments.texts("reason")
  }

  static func number(_ text: String) throws(UsageError) -> Int64 {
    guard let id = Int64(text), id > 0 else {
      throw UsageError("'\(text)' is no id of a dead letter: `deadletters list` shows them")
    }
    return id
  }

  func openReadOnly() throws -> Database {
    do throws(DatabaseError) { return try StateSchema.openReadOnly(folder.stateFile) } catch {
      throw CommandFailure(.diskError, "\(error)")
    }
  }

  func open() throws -> Database {
    do throws(DatabaseError) { return try StateSchema.open(folder.stateFile) } catch {
      throw CommandFailure(.diskError, "\(error)")
    }
  }

  /// Calls `body` with each that is meant, oldest first.
  func forEach(
    _ database: borrowing Database, limit: Int = .max, _ body: (DeadLetter) -> Void
  ) throws {
    var count = 0
    var asked = PathWatch()
    for clause in clauses { asked.add(clause) }
    do throws(DatabaseError) {
      try DeadLetters.forEach(database) { letter in
        guard isNamed(letter) else { return true }
        unsafe asked.look(letter.payload.span.bytes)
        guard matches(letter) else { return true }
        body(letter)
        count += 1
        return count < limit
      }
    } catch { throw CommandFailure(.diskError, "\(error)") }
    asked.tell()
  }

  func find(_ text: String) throws -> DeadLetter {
    let id = try Self.number(text)
    do throws(DatabaseError) {
      if let letter = try DeadLetters.find(id, in: StateSchema.openReadOnly(folder.stateFile)) {
        return letter
      }
    } catch { throw CommandFailure(.diskError, "\(error)") }
    throw CommandFailure(.failed, "\(destination) has no dead letter \(id)")
  }

  /// Asked for by its id and not there is a mistake, as for `show`; a condition may match nothing.
  func checkIDs(found: [Int64]) throws(CommandFailure) {
    guard clauses.isEmpty, reasons.isEmpty else { return }
    let missing = ids.subtracting(found).sorted().map { "\($0)" }
    guard !missing.isEmpty else { return }
    throw CommandFailure(
      .failed,
      "\(TerminalText.escape(destination)) has no dead letter \(missing.joined(separator: ", ")): "
        + "nothing was changed")
  }

  /// By its id and reason.
  private func isNamed(_ letter: DeadLetter) -> Bool {
    if !ids.isEmpty, !ids.contains(letter.id) { return false }
    return reasons.allSatisfy { letter.refusal.reason.contains($0) }
  }

  private func matches(_ letter: DeadLetter) -> Bool {
    clauses.allSatisfy { unsafe $0.matches(letter.payload.span.bytes) }
  }
}
