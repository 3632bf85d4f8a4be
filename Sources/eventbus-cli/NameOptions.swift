import BusProtocol
import ServiceRuntime

extension Arguments {
  /// The events that `option` (patterns) and `--exact` (names) ask for; none: all.
  func nameFilters(_ option: String = "events") throws(UsageError) -> [NameFilter] {
    try names("--\(option)", texts(option)).map { NameFilter(.glob, $0) } + exactFilters()
  }

  /// The same with the patterns as arguments.
  func nameFilters(ofPositionals name: String) throws(UsageError) -> [NameFilter] {
    try names(name, positionals).map { NameFilter(.glob, $0) } + exactFilters()
  }

  private func exactFilters() throws(UsageError) -> [NameFilter] {
    try names("--exact", texts("exact")).map { NameFilter(.exact, $0) }
  }

  /// The values of an option that are names or patterns.
  func names(_ option: String) throws(UsageError) -> [String] {
    try names("--\(option)", texts(option))
  }

  /// An empty one would match nothing for ever, and comes of a `$` that the shell took.
  private func names(_ what: String, _ texts: [String]) throws(UsageError) -> [String] {
    guard !texts.contains("") else {
      throw UsageError(
        "\(what) is empty: no event has that name, and in a shell one with $ needs single quotes")
    }
    return texts
  }
}
