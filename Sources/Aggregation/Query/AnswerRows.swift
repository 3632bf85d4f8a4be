internal import EventCodec
internal import Primitives

/// An answer as rows of texts, for tables, CSV and charts.
extension ReportAnswer {
  /// What stands in one row and column.
  public struct Cell: Sendable, Equatable {
    public var text: String
    /// A text of an event that reads as another value (`"1"`, not 1), or as one of our own words: quotes
    /// tell them apart.
    public var needsQuotes = false
  }

  /// Names of the columns and their cells, each row as long as the names.
  public struct Rows: Sendable {
    public var columns: [String]
    public var rows: [[Cell]]
    /// The first columns are texts, the others numbers.
    public var textColumns: Int
  }

  /// One row for each window and group, with all digits: what CSV has. A window's start stands before the
  /// group's values.
  public var rows: Rows {
    let hasWindows = definition.window != .all
    let lines = windows.flatMap { window in
      let start = hasWindows ? [Cell(text: zone.text(window.range.lowerBound))] : []
      let shown = dimensions.isEmpty ? [window.total] : window.groups
      return shown.map { (start + key($0), $0.members) }
    }
    return rows((hasWindows ? ["start"] : []) + dimensions, lines) { value in
      if case .text(let text) = value { text } else { Self.exact(value) }
    }
  }

  /// One row for each group over the whole period, rounded for eyes, the total last.
  public var summary: Rows {
    var lines = groups.map { (key($0), $0.members) }
    lines.append((words(Self.all), total.members))
    return rows(dimensions, lines, \.plain)
  }

  /// The report's first number over time, all groups together: for a chart.
  public var series: (title: String, points: [(label: String, value: Double)])? {
    guard definition.window != .all, windows.count > 1 else { return nil }
    let columns = windows.map { Self.columns($0.total.members) }
    guard let index = columns.first?.firstIndex(where: { Self.number($0.value) != nil }) else {
      return nil
    }
    let points = zip(windows, columns).map { window, columns in
      (label: zone.text(window.range.lowerBound), value: Self.number(columns[index].value) ?? 0)
    }
    return (columns[0][index].name, points)
  }

  /// What a person should know about the numbers; each a sentence.
  public var remarks: [String] {
    var remarks: [String] = []
    func say(_ count: UInt64, _ text: String) {
      if count > 0 { remarks.append("\(count) \(text)") }
    }
    say(
      counters.late,
      "events came too late, or are older than the report keeps windows, and are in none")
    say(counters.expired, "events were in windows that the report keeps no longer")
    say(counters.withoutUser, "events name no user")
    say(counters.unreadable, "events could not be read")
    say(counters.trimmed, "entries of very active users were given up")
    say(UInt64(groupsLeftOut), "more groups: ask for more with --groups")
    if groups.contains(where: \.isOther) {
      remarks.append("(other) holds the groups beyond the report's limit of \(definition.limit)")
    }
    remarks += missing
    let estimates = total.members.contains { member in
      guard case .object(let parts) = member.value else { return false }
      return parts.contains { $0.key == "exact" && $0.value == .boolean(false) }
    }
    if estimates { remarks.append("estimates are within 0.8 % (one standard deviation)") }
    return remarks
  }

  /// Groups and top values that were folded into others before they came again.
  private var missing: [String] {
    var remarks: [String] = []
    let few = groups.filter { $0.mayMiss > 0 }
    if let most = few.map(\.mayMiss).max() {
      let names = few.prefix(3).map { key($0).map(\.shown).joined(separator: " ") }
      let more = few.count > names.count ? " and \(few.count - names.count) more" : ""
      remarks.append(
        "\(names.joined(separator: ", "))\(more): at most \(most) events of each are in (other)")
    }
    for member in total.members {
      guard case .object(let parts) = member.value,
        case .list(let values)? = parts.first(where: { $0.key == "values" })?.value
      else { continue }
      let counts = values.compactMap { value -> Int128? in
        guard case .object(let parts) = value,
          case .whole(let count)? = parts.first(where: { $0.key == "mayMiss" })?.value
        else { return nil }
        return count
      }
      guard let most = counts.max() else { continue }
      remarks.append(
        "\(member.key): \(counts.count) values may miss events, each \(most) at most")
    }
    return remarks
  }

  private static let (all, other) = ("(all)", "(other)")

  private func words(_ word: String) -> [Cell] {
    dimensions.indices.map { Cell(text: $0 == 0 ? word : "") }
  }

  private func key(_ group: Group) -> [Cell] {
    if group.isOther { return words(Self.other) }
    return group.name?.values.map { value in
      guard case .text(let text) = value else { return Cell(text: value.plain) }
      let isWord = text == Self.all || text == Self.other
      return Cell(text: text, needsQuotes: isWord || CanonicalJSON.readsAsValue(text))
    } ?? []
  }

  private func rows(
    _ first: [String], _ lines: [([Cell], [(key: String, value: AnswerValue)])],
    _ text: (AnswerValue) -> String
  ) -> Rows {
    // Without a row, too, whoever reads it finds the columns that there would be.
    let names = Self.columns(lines.first?.1 ?? total.members).map(\.name)
    return Rows(
      columns: first + names,
      rows: lines.map { key, members in
        key + Self.columns(members).map { Cell(text: text($0.value)) }
      },
      textColumns: first.count)
  }

  /// Each member as one column or several.
  private static func columns(
    _ members: [(key: String, value: AnswerValue)]
  ) -> [(name: String, value: AnswerValue)] {
    members.flatMap { member -> [(name: String, value: AnswerValue)] in
      switch member.value {
      case .object(let parts):
        if let value = parts.first(where: { $0.key == "value" }) {
          return [(member.key, value.value)]
        }
        if let values = parts.first(where: { $0.key == "values" }) {
          return [(member.key, values.value)]
        }
        return parts.map { ("\($0.key)\(suffix(member.key))", $0.value) }
      case .list(let values) where member.key == "steps":
        return values.enumerated().map { index, step in
          guard case .object(let parts) = step else { return ("\(index + 1)", step) }
          return ("\(index + 1) \(parts[0].value.plain)", parts[1].value)
        }
      case .list(let values):
        return values.enumerated().map { ("\(member.key) \($0.offset)", $0.element) }
      default: return [(member.key, member.value)]
      }
    }
  }

  /// Quantiles of two properties need telling apart: `p50 properties.ms`.
  private static func suffix(_ label: String) -> String {
    label.split(separator: " ", maxSplits: 1).dropFirst().first.map { " \($0)" } ?? ""
  }

  private static func number(_ value: AnswerValue) -> Double? {
    switch value {
    case .whole(let value): Double(value)
    case .double(let value): value
    default: nil
    }
  }

  private static func exact(_ value: AnswerValue) -> String {
    switch value {
    case .null: ""
    case .json: value.plain
    default: String(decoding: value.json, as: UTF8.self)
    }
  }
}

extension ReportAnswer.Cell {
  /// For eyes: in the quotes of JSON where they are needed.
  public var shown: String {
    guard needsQuotes else { return text }
    var quoted: [UInt8] = []
    JSONString.append(text, to: &quoted)
    return String(decoding: quoted, as: UTF8.self)
  }
}
