/// An answer as rows of texts, for tables, CSV and charts.
extension ReportAnswer {
  /// Names of the columns and their cells, each row as long as the names.
  public struct Rows: Sendable {
    public var columns: [String]
    public var rows: [[String]]
    /// The first columns are texts, the others numbers.
    public var textColumns: Int
  }

  /// One row for each window and group, with all digits: what CSV has. A window's start stands before the
  /// group's values.
  public var rows: Rows {
    let hasWindows = definition.window != .all
    let lines = windows.flatMap { window in
      let start = hasWindows ? [zone.text(window.range.lowerBound)] : []
      let shown = dimensions.isEmpty ? [window.total] : window.groups
      return shown.map { (start + key($0), $0.members) }
    }
    return Self.rows((hasWindows ? ["start"] : []) + dimensions, lines) { value in
      if case .text(let text) = value { text } else { Self.exact(value) }
    }
  }

  /// One row for each group over the whole period, rounded for eyes, the total last.
  public var summary: Rows {
    var lines = groups.map { (key($0), $0.members) }
    let words = dimensions.isEmpty ? [] : ["(all)"] + dimensions.dropFirst().map { _ in "" }
    lines.append((words, total.members))
    return Self.rows(dimensions, lines, \.plain)
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
    say(counters.late, "events came too late and are not in any window")
    say(counters.withoutUser, "events name no user")
    say(counters.unreadable, "events could not be read")
    say(counters.trimmed, "entries of very active users were given up")
    say(UInt64(groupsLeftOut), "more groups: ask for more with --groups")
    if groups.contains(where: \.isOther) {
      remarks.append("(other) holds the groups beyond the report's limit of \(definition.limit)")
    }
    let estimates = total.members.contains { member in
      guard case .object(let parts) = member.value else { return false }
      return parts.contains { $0.key == "exact" && $0.value == .boolean(false) }
    }
    if estimates { remarks.append("estimates are within 0.8 % (one standard deviation)") }
    return remarks
  }

  private func key(_ group: Group) -> [String] {
    if group.isOther { return ["(other)"] + dimensions.dropFirst().map { _ in "" } }
    return group.name?.values.map(\.plain) ?? []
  }

  private static func rows(
    _ first: [String], _ lines: [([String], [(key: String, value: AnswerValue)])],
    _ text: (AnswerValue) -> String
  ) -> Rows {
    let names = lines.first.map { columns($0.1).map(\.name) } ?? []
    return Rows(
      columns: first + names,
      rows: lines.map { key, members in key + columns(members).map { text($0.value) } },
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
