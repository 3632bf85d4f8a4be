/// The view `events` that DuckDB gets.
enum ArchiveSQLView {
  /// Explicit, since guessing gives types by the first lines: integers keep their 64 bits in JSON, ids
  /// that are numbers become text as everywhere else, and times are UTC whatever the machine's zone.
  private static let columns = [
    ("type", "VARCHAR"), ("event", "VARCHAR"), ("messageId", "VARCHAR"), ("userId", "VARCHAR"),
    ("anonymousId", "VARCHAR"), ("timestamp", "TIMESTAMP"), ("originalTimestamp", "VARCHAR"),
    ("timestampFlag", "VARCHAR"), ("sentAt", "VARCHAR"), ("receivedAt", "VARCHAR"),
    ("properties", "JSON"), ("traits", "JSON"), ("context", "JSON"), ("integrations", "JSON"),
    ("name", "VARCHAR"), ("category", "VARCHAR"), ("groupId", "VARCHAR"), ("previousId", "VARCHAR"),
    ("offset", "UBIGINT"), ("epoch", "UINTEGER"),
  ]

  /// - Parameter files: only what is in the catalogue: a file that a killed archiver left would be counted
  ///   twice.
  static func statement(files: [String]) -> String {
    guard !files.isEmpty else {
      let nothing = columns.map { "CAST(NULL AS \($0.1)) AS \"\($0.0)\"" }
      return "CREATE VIEW events AS SELECT \(nothing.joined(separator: ", ")) WHERE false;"
    }
    let list = files.map { "'\(quoted($0))'" }.joined(separator: ",\n")
    let types = columns.map { "\"\($0.0)\": '\($0.1)'" }.joined(separator: ", ")
    return """
      CREATE VIEW events AS SELECT * FROM read_json([\(list)],
        format = 'newline_delimited', compression = 'zstd', hive_partitioning = true,
        hive_types = {'date': DATE, 'hour': VARCHAR}, columns = {\(types)});
      """
  }

  /// Within quotes, and with nothing left that a file pattern would take for special.
  private static func quoted(_ path: String) -> String {
    var text = ""
    for scalar in path.unicodeScalars {
      switch scalar {
      case "'": text += "''"
      case "*", "?", "[": text += "[\(scalar)]"
      default: text.unicodeScalars.append(scalar)
      }
    }
    return text
  }
}
