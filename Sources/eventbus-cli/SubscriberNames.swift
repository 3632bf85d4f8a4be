import BusClient
import BusProtocol
import ServiceRuntime

/// The named subscribers that a replay or an import is for.
enum SubscriberNames {
  /// `archiver,aggregator` as names, each once.
  static func read(_ text: String) throws(UsageError) -> [String] {
    var names: [String] = []
    for part in text.split(separator: ",", omittingEmptySubsequences: false) {
      let name = String(part)
      guard (1...200).contains(name.utf8.count) else {
        throw UsageError("--to: a subscriber's name has 1 to 200 bytes: NAME or NAME,NAME")
      }
      if !names.contains(name) { names.append(name) }
    }
    guard names.count <= 255 else { throw UsageError("--to: at most 255 names") }
    return names
  }

  /// Ends the command when the bus does not know one of the names: what is sent to nobody is lost
  /// without a trace, and a slip of the pen looks just so.
  static func check(_ names: [String], _ arguments: Arguments) throws {
    let consumers = try Administration.ask(arguments) { bus throws(BusClientError) in
      try bus.consumers()
    }
    let known = consumers.map { String(decoding: $0.bytes("name"), as: UTF8.self) }
    for name in names where !known.contains(where: { $0.utf8.elementsEqual(name.utf8) }) {
      let list = known.sorted().prefix(20).map(TerminalText.escape).joined(separator: ", ")
      throw CommandFailure(
        .failed,
        "the bus has no subscriber '\(TerminalText.escape(name))'; it has "
          + (known.isEmpty ? "none" : list)
          + ". Start it first, or send to names to come with --any-name")
    }
  }
}
