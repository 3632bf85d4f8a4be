internal import EventCodec

/// Turns the nodes of a file into definitions, and says what is wrong where.
struct ReportReader {
  let bytes: [UInt8]
  let path: String

  private static let keys = [
    "name", "title", "events", "exact", "where", "measures", "by", "funnel", "within", "retention",
    "sessions", "window", "zone", "lateness", "keep", "limit", "fill",
  ]

  func wrong(_ offset: Int, _ text: String) -> ReportFileError {
    let line = 1 + bytes[..<min(offset, bytes.count)].count { $0 == 10 }
    return ReportFileError(path: path, line: line, text: text)
  }

  func report(_ node: JSONNode) throws(ReportFileError) -> ReportDefinition {
    let fields = try object(node, "a report", keys: Self.keys)
    guard let nameNode = fields["name"] else { throw wrong(node.offset, "\"name\" is missing") }
    let name = try text(nameNode)
    guard !name.isEmpty, name.utf8.count <= 100, name.utf8.allSatisfy(isNameByte) else {
      throw wrong(
        nameNode.offset, "a name has 1 to 100 letters, digits, dots, dashes and underscores")
    }
    let window = try fields["window"].map(window) ?? .day
    var report = ReportDefinition(
      name: name, content: try content(fields, node), window: window,
      keep: try fields["keep"].map(seconds) ?? ReportDefinition.usualKeep(window))
    report.title = try fields["title"].map(text) ?? ""
    report.events = try fields["events"].map(texts) ?? []
    report.exactEvents = try fields["exact"].map(texts) ?? []
    report.conditions = try fields["where"].map(conditions) ?? []
    report.zone = try fields["zone"].map(zone) ?? "UTC"
    report.lateness = try fields["lateness"].map(seconds)
    report.limit = try whole(fields["limit"], 1...100_000) ?? 1000
    report.fills = try fields["fill"].map(boolean) ?? false
    return report
  }

  private func isNameByte(_ byte: UInt8) -> Bool {
    0x30...0x39 ~= byte || 0x61...0x7A ~= byte || 0x41...0x5A ~= byte || "-_.".utf8.contains(byte)
  }

  private func content(
    _ fields: [String: JSONNode], _ node: JSONNode
  ) throws(ReportFileError) -> ReportDefinition.Content {
    let kinds = ["measures", "funnel", "retention", "sessions"].filter { fields[$0] != nil }
    guard kinds.count <= 1 else {
      throw wrong(node.offset, "\"\(kinds[0])\" and \"\(kinds[1])\" contradict each other")
    }
    if let by = fields["by"], let kind = kinds.first, kind != "measures" {
      throw wrong(by.offset, "\"by\" goes with \"measures\" only")
    }
    if let within = fields["within"], kinds.first != "funnel" {
      throw wrong(within.offset, "\"within\" goes with \"funnel\" only")
    }
    if let funnel = fields["funnel"] { return try self.funnel(funnel, fields["within"]) }
    if let retention = fields["retention"] { return try self.retention(retention) }
    if let sessions = fields["sessions"] {
      let fields = try object(sessions, "\"sessions\"", keys: ["gap"])
      return .sessions(gap: try fields["gap"].map(seconds) ?? 1800)
    }
    let measures = try fields["measures"].map(measures) ?? [.count]
    return .measures(measures, by: try fields["by"].map(dimensions) ?? [])
  }

  private func funnel(
    _ node: JSONNode, _ within: JSONNode?
  ) throws(ReportFileError) -> ReportDefinition.Content {
    let steps = try list(node).map { node throws(ReportFileError) in try step(node) }
    guard 2...20 ~= steps.count else { throw wrong(node.offset, "a funnel has 2 to 20 steps") }
    return .funnel(steps, within: try within.map(seconds) ?? 86_400)
  }

  private func retention(_ node: JSONNode) throws(ReportFileError) -> ReportDefinition.Content {
    let fields = try object(node, "\"retention\"", keys: ["first", "back", "periods"])
    let all = ReportDefinition.Step(event: "*")
    return .retention(
      first: try fields["first"].map(step) ?? all, back: try fields["back"].map(step) ?? all,
      periods: try whole(fields["periods"], 1...100) ?? 12)
  }

  private func step(_ node: JSONNode) throws(ReportFileError) -> ReportDefinition.Step {
    if case .text(let event) = node.value { return ReportDefinition.Step(event: event) }
    let fields = try object(node, "a step", keys: ["event", "exact", "where"])
    let conditions = try fields["where"].map(conditions) ?? []
    switch (fields["event"], fields["exact"]) {
    case (let event?, nil):
      return ReportDefinition.Step(event: try text(event), conditions: conditions)
    case (nil, let exact?):
      return ReportDefinition.Step(event: try text(exact), isExact: true, conditions: conditions)
    default: throw wrong(node.offset, "a step has one of \"event\" (a pattern) and \"exact\"")
    }
  }

  private func window(_ node: JSONNode) throws(ReportFileError) -> WindowRule.Length {
    let word = try text(node)
    if let length = WindowRule.Length(rawValue: word) { return length }
    throw wrong(node.offset, unknown(word, "window", WindowRule.Length.allCases.map(\.rawValue)))
  }

  private func zone(_ node: JSONNode) throws(ReportFileError) -> String {
    let name = try text(node)
    guard CivilTime(named: name) != nil else {
      throw wrong(
        node.offset, "no time zone \"\(name)\": a name such as Europe/Berlin, from tzdata")
    }
    return name
  }

  private func conditions(_ node: JSONNode) throws(ReportFileError) -> [String] {
    try list(node).map { node throws(ReportFileError) in
      let condition = try text(node)
      do throws(WhereClause.SyntaxError) {
        _ = try WhereClause(condition)
      } catch { throw wrong(node.offset, "\(error)") }
      return condition
    }
  }
}
