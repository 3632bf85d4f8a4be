import Aggregation
import ServiceRuntime

/// A report's answer as a person reads it, and as CSV.
enum ReportText {
  /// Groups over the period, then a chart of the windows.
  static func table(_ answer: ReportAnswer) -> String {
    var text = ""
    let summary = answer.summary
    if !summary.rows.isEmpty { text += table(summary) }
    if let series = answer.series {
      text += "\n\(TerminalText.escape(series.title)) by \(answer.windowName)\n"
      text += chart(series.points)
    }
    for remark in answer.remarks { text += "\n\(TerminalText.escape(remark))" }
    return answer.remarks.isEmpty ? text : text + "\n"
  }

  /// Which reports there are.
  static func list(_ reports: [AggregatorStatus.Report]) -> String {
    guard !reports.isEmpty else { return "no reports\n" }
    var table = Table([
      .init("report"), .init("counts"), .init("by"), .init("window"), .init("zone"),
      .init("events", .right), .init("expired", .right), .init("late", .right), .init("title"),
    ])
    for report in reports {
      table.append([
        report.name,
        report.measures.isEmpty ? report.kind : report.measures.joined(separator: ", "),
        report.by.joined(separator: ", "), report.window, report.zone, "\(report.events)",
        "\(report.expired)", "\(report.late)", report.title,
      ])
    }
    return table.text
  }

  private static func table(_ rows: ReportAnswer.Rows) -> String {
    let columns = rows.columns.enumerated().map { index, name in
      Table.Column(name, index < rows.textColumns ? .left : .right)
    }
    var table = Table(columns)
    for row in rows.rows { table.append(row.map(\.shown)) }
    return table.text
  }

  /// RFC 4180: a header line, fields with commas, quotes or line breaks in quotes, CRLF. Also in quotes:
  /// texts that read as another value, as `"1"`.
  static func csv(_ answer: ReportAnswer) -> String {
    let rows = answer.rows
    let head = rows.columns.map { JSONCell.csv($0) }
    let lines = rows.rows.map { row in
      row.map { JSONCell.csv($0.text, inQuotes: $0.needsQuotes) }
    }
    return ([head] + lines).map { $0.joined(separator: ",") + "\r\n" }.joined()
  }

  /// Bars for the last windows: eighths of a character tell neighbours apart.
  static func chart(_ points: [(label: String, value: Double)], width: Int = 40) -> String {
    let rows = 48
    let shown = points.suffix(rows)
    let most = shown.map(\.value).max() ?? 0
    var text = points.count > rows ? "(the last \(rows) of \(points.count) windows)\n" : ""
    let numbers = shown.map { number($0.value) }
    let labelWidth = shown.map(\.label.utf8.count).max() ?? 0
    let numberWidth = numbers.map(\.utf8.count).max() ?? 0
    for (point, number) in zip(shown, numbers) {
      let label = point.label + String(repeating: " ", count: labelWidth - point.label.utf8.count)
      let padding = String(repeating: " ", count: numberWidth - number.utf8.count)
      text += "\(label)  \(padding)\(number)"
      let bar = bar(most > 0 ? point.value / most : 0, width: width)
      text += bar.isEmpty ? "\n" : "  \(bar)\n"
    }
    return text
  }

  private static let eighths = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"]

  private static func bar(_ part: Double, width: Int) -> String {
    guard part > 0 else { return "" }
    // What is not nothing shows.
    let units = max(1, Int((part * Double(width * 8)).rounded()))
    return String(repeating: "█", count: units / 8) + eighths[units % 8]
  }

  private static func number(_ value: Double) -> String {
    Int64(exactly: value).map { "\($0)" } ?? "\((value * 1000).rounded() / 1000)"
  }
}
