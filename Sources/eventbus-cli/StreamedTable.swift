import ServiceRuntime

/// A table of any number of rows: its columns are as wide as the first rows need, and a longer cell
/// further down moves only its own line. Memory does not grow with the rows.
struct StreamedTable {
  private static let sample = 100

  private let titles: [String]
  private var waiting: [[String]] = []
  private var widths: [Int]?

  init(_ titles: [String]) { self.titles = titles.map { TerminalText.escape($0).uppercased() } }

  /// Adds a row; returns the lines that are ready.
  mutating func add(_ cells: [String]) -> [String] {
    let cells = cells.map {
      TerminalText.truncate(TerminalText.escape($0), columns: Table.maximumCellWidth)
    }
    if let widths { return [Self.line(cells, widths)] }
    waiting.append(cells)
    return waiting.count < Self.sample ? [] : finish()
  }

  /// The lines that are left, the titles first if there were none yet.
  mutating func finish() -> [String] {
    guard widths == nil else { return [] }
    let rows = [titles] + waiting
    waiting = []
    let widths = titles.indices.map { column in
      rows.map { TerminalText.width($0[column]) }.max() ?? 0
    }
    self.widths = widths
    return rows.map { Self.line($0, widths) }
  }

  private static func line(_ cells: [String], _ widths: [Int]) -> String {
    var text = ""
    for (index, cell) in cells.enumerated() {
      if index > 0 { text += "  " }
      text += cell
      guard index < cells.count - 1 else { break }
      text += String(repeating: " ", count: max(0, widths[index] - TerminalText.width(cell)))
    }
    while text.last == " " { text.removeLast() }
    return text
  }
}
