import Archive
import EventCodec
import Primitives
import ServiceRuntime

/// Prints the events that `archive query` found: as the lines are stored, or some fields of each.
struct QueryRowPrinter: ~Copyable {
  private let format: ArchiveQuerySettings.Format
  private let titles: [String]
  /// The keys of selected fields as JSON has them, with the colon.
  private let keys: [[UInt8]]
  private let isSelected: Bool
  private var table: StreamedTable
  private var output = TailOutput()
  private var line: [UInt8] = []
  private let isTerminal = StandardOutput().isTerminal

  /// What each row's values are.
  let paths: [[[UInt8]]]
  private var rows: UInt64 = 0
  /// Selected fields that no row has had.
  private var unseen: [Int]

  init(_ format: ArchiveQuerySettings.Format, select: [ArchiveQuerySettings.Field]?) {
    self.format = format
    isSelected = select != nil
    let own =
      switch format {
      case .ndjson: [String]()
      case .csv:
        ["offset", "timestamp", "event", "userId", "anonymousId", "messageId", "properties"]
      case .table: ["timestamp", "event", "userId", "anonymousId", "properties"]
      }
    titles = select?.map(\.text) ?? own
    paths = titles.map { WhereClause.keys(ofPath: $0) } + (isSelected ? [] : [[Array("type".utf8)]])
    keys = titles.map { JSONText.text($0).utf8 + [UInt8(ascii: ":")] }
    table = StreamedTable(titles)
    unseen = isSelected ? Array(titles.indices) : []
  }

  mutating func begin() {
    if format == .csv { output.begin(titles.map(JSONCell.csv).joined(separator: ",")) }
  }

  /// False when nobody reads any more.
  mutating func show(_ row: borrowing ArchiveQuery.Row) -> Bool {
    rows += 1
    var index = 0
    while index < unseen.count {
      if row.value(unseen[index]) != nil { unseen.remove(at: index) } else { index += 1 }
    }
    switch format {
    case .ndjson where !isSelected: output.writeLine(row.line)
    case .ndjson: object(row)
    case .csv:
      let cells = cells(row).map { isTerminal ? TerminalText.escape($0) : $0 }
      output.writeLine(Array(cells.map(JSONCell.csv).joined(separator: ",").utf8))
    case .table: for line in table.add(cells(row)) { output.writeLine(Array(line.utf8)) }
    }
    if isTerminal { output.flush() }
    return !output.isClosed
  }

  mutating func finish() {
    if format == .table {
      for line in table.finish() { output.writeLine(Array(line.utf8)) }
    }
    output.flush()
    for index in unseen { PathWatch.tell(rows, paths[index], "select") }
  }

  private mutating func object(_ row: borrowing ArchiveQuery.Row) {
    line.removeAll(keepingCapacity: true)
    for (index, key) in keys.enumerated() {
      guard let value = row.value(index) else { continue }
      line.append(UInt8(ascii: line.isEmpty ? "{" : ","))
      line += key
      line.append(value)
    }
    if line.isEmpty { line.append(UInt8(ascii: "{")) }
    line.append(UInt8(ascii: "}"))
    output.writeLine(line)
  }

  private func cells(_ row: borrowing ArchiveQuery.Row) -> [String] {
    var cells: [String] = []
    for index in titles.indices { cells.append(JSONCell.text(row.value(index))) }
    guard !isSelected, let event = titles.firstIndex(of: "event") else { return cells }
    let type = JSONCell.text(row.value(titles.count))
    if type != "track" { cells[event] = "$" + type }
    return cells
  }
}

/// Prints the counts that `archive query` made.
struct QueryGroupPrinter: ~Copyable {
  private let format: ArchiveQuerySettings.Format
  private let titles: [String]
  private var table: StreamedTable
  private var output = TailOutput()
  private let isTerminal = StandardOutput().isTerminal

  init(_ format: ArchiveQuerySettings.Format, _ fields: [String]) {
    self.format = format
    titles = fields + ["count"]
    table = StreamedTable(titles)
  }

  mutating func begin() {
    if format == .csv { output.begin(titles.map(JSONCell.csv).joined(separator: ",")) }
  }

  /// False when nobody reads any more.
  mutating func show(_ group: QueryGroup) -> Bool {
    switch format {
    case .ndjson: output.writeLine(object(group))
    case .csv:
      let cells = group.values.map { JSONCell.csv(group: $0, isForTerminal: isTerminal) }
      output.writeLine(Array((cells + ["\(group.count)"]).joined(separator: ",").utf8))
    // One number is no table.
    case .table where titles.count == 1: output.writeLine(Array("\(group.count)".utf8))
    case .table:
      let cells = group.values.map(JSONCell.exactText) + ["\(group.count)"]
      for line in table.add(cells) { output.writeLine(Array(line.utf8)) }
    }
    return !output.isClosed
  }

  mutating func finish() {
    if format == .table, titles.count > 1 {
      for line in table.finish() { output.writeLine(Array(line.utf8)) }
    }
    output.flush()
  }

  private func object(_ group: QueryGroup) -> [UInt8] {
    var line: [UInt8] = [UInt8(ascii: "{")]
    for (title, value) in zip(titles, group.values) {
      line += JSONText.text(title).utf8
      line.append(UInt8(ascii: ":"))
      line += value
      line.append(UInt8(ascii: ","))
    }
    line += "\"count\":\(group.count)}".utf8
    return line
  }
}
