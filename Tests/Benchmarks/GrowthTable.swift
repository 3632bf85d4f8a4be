internal import Foundation

/// Points of a growth, each value with its ratio to the first row's.
struct GrowthTable {
  private let title: String
  private let columns: [String]
  private var rows: [(label: String, values: [Double?])] = []

  /// - Parameter columns: the first is that of the labels.
  init(_ title: String, _ columns: [String]) {
    self.title = title
    self.columns = columns
  }

  /// A value that could not be taken is nil.
  mutating func add(_ label: String, _ values: [Double?]) {
    rows.append((label, values))
  }

  var text: String {
    let width = 22
    var lines = ["", title, columns.enumerated().map { pad($1, $0 == 0 ? 12 : width) }.joined()]
    for row in rows {
      var line = pad(row.label, 12)
      for (value, first) in zip(row.values, rows[0].values) {
        line += pad(cell(value, first), width)
      }
      lines.append(line)
    }
    return lines.joined(separator: "\n")
  }

  private func cell(_ value: Double?, _ first: Double?) -> String {
    guard let value else { return "-" }
    guard let first, first > 0 else { return number(value) }
    return "\(number(value))  ×\(pad(fixed(value / first, 2), 6))"
  }

  private func number(_ value: Double) -> String {
    value >= 100 ? fixed(value, 0) : fixed(value, value >= 10 ? 1 : 2)
  }

  private func fixed(_ value: Double, _ digits: Int) -> String {
    String(format: "%.\(digits)f", value)
  }

  private func pad(_ text: String, _ width: Int) -> String {
    String(repeating: " ", count: max(1, width - text.count)) + text
  }
}
