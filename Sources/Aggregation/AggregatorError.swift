public import BusClient
public import Database

/// What stops an aggregator.
public enum AggregatorError: Error, Hashable, Sendable, CustomStringConvertible {
  case database(DatabaseError)
  /// A window or a user of a report does not read back.
  case damaged(report: String, StateError)
  /// Another aggregator works in the directory.
  case inUse(path: String, holder: String)
  case reportFile(ReportFileError)
  case bus(BusClientError)
  case system(text: String)

  public var description: String {
    switch self {
    case .database(let error): "\(error)"
    case .damaged(let report, let error):
      "report \(report): \(error); remove the report from the file and add it again to begin anew"
    case .inUse(let path, let holder): "\(path) is in use by \(holder)"
    case .reportFile(let error): "\(error)"
    case .bus(let error): "\(error)"
    case .system(let text): text
    }
  }
}
