/// Rows of text in columns, for people.
public struct Table: Sendable {
  public enum Alignment: Sendable { case left, right }

  public struct Column: Sendable {
    public var title: String
    public var alignment: Alignment
    public init(_ title: String, _ alignment: Alignment = .left) {
      self.title = title
      self.alignment = alignment
    }
  }

  /// A cell wider than this is cut, so that one long name does not push all else off the screen.
  public static let maximumCellWidth = 60

  public let columns: [Column]
  private var rows: [[String]] = []

  public init(_ columns: [Column]) { self.columns = columns }

  public var isEmpty: Bool { rows.isEmpty }

  /// Cells may hold anything: control characters are made visible. Traps on a wrong number of
  /// cells.
  public mutating func append(_ cells: [String]) {
    precondition(cells.count == columns.count, "\(cells.count) cells for \(columns.count) columns")
    rows.append(
      cells.map {
        TerminalText.truncate(TerminalText.escape($0), columns: Self.maximumCellWidth)
      })
  }

  /// The title line and the rows, two spaces between columns, no spaces at the ends of lines.
  public var text: String {
    let titles = columns.map { $0.title.uppercased() }
    let widths = columns.indices.map { index in
      ([titles] + rows).map { TerminalText.width($0[index]) }.max() ?? 0
    }
    return ([titles] + rows).map { line($0, widths) + "\n" }.joined()
  }

  private func line(_ cells: [String], _ widths: [Int]) -> String {
    var text = ""
    for (index, cell) in cells.enumerated() {
      let padding = String(repeating: " ", count: widths[index] - TerminalText.width(cell))
      if index > 0 { text += "  " }
      text += columns[index].alignment == .left ? cell + padding : padding + cell
    }
    while text.last == " " { text.removeLast() }
    return text
  }
}
