internal import EventCodec

/// Reads a file of report definitions:
///
///     {"reports": [
///       {"name": "checkout", "events": ["Checkout *"], "where": ["properties.plan=pro"],
///        "measures": ["count", {"unique": "user"}, {"sum": "properties.value"},
///                     {"quantiles": "properties.ms", "at": [0.5, 0.99]}],
///        "by": ["properties.country"], "window": "hour", "zone": "Europe/Berlin"},
///       {"name": "purchase", "funnel": ["Cart Viewed", "Order Placed"], "within": "1h"},
///       {"name": "come-back", "retention": {"first": "Signed Up", "back": "*"}, "window": "week"},
///       {"name": "visits", "sessions": {"gap": "30m"}}
///     ], "defaults": true}
///
/// `"defaults": false` leaves out the reports that are there without a file.
public enum ReportFile {
  static let maximumReports = 200

  /// - Throws: the first thing that is wrong, with its line and, for a word, the nearest right one.
  public static func parse(
    _ bytes: [UInt8], path: String
  ) throws(ReportFileError) -> [ReportDefinition] {
    let reader = ReportReader(bytes: bytes, path: path)
    let root: JSONNode
    do throws(JSONSyntaxError) {
      root = try JSONDocumentParser.parse(bytes)
    } catch {
      throw reader.wrong(error.offset, error.text)
    }
    let file = try reader.object(root, "the file", keys: ["reports", "defaults"])
    var reports: [ReportDefinition] = []
    if let usual = file["defaults"] {
      if try reader.boolean(usual) { reports = ReportDefinition.defaults }
    } else {
      reports = ReportDefinition.defaults
    }
    guard let list = file["reports"] else {
      throw reader.wrong(root.offset, "\"reports\" is missing: a list of report definitions")
    }
    for node in try reader.list(list) {
      let report = try reader.report(node)
      guard !reports.contains(where: { $0.name == report.name }) else {
        throw reader.wrong(node.offset, "there is another report \"\(report.name)\"")
      }
      reports.append(report)
    }
    guard reports.count <= maximumReports else {
      throw reader.wrong(root.offset, "\(reports.count) reports; \(maximumReports) are allowed")
    }
    return reports
  }
}

/// What is wrong in a report file, and where.
public struct ReportFileError: Error, Hashable, Sendable, CustomStringConvertible {
  public var path: String
  public var line: Int
  public var text: String

  public var description: String { "\(path), line \(line): \(text)" }
}
