internal import Primitives

/// Puts an answer together, window by window; only what it shows of a window stays in memory.
///
/// Which groups are shown, the whole period decides. While they are no more than were asked for, one
/// reading is enough; else the windows are read again (`needsSecondReading`, `show`).
struct AnswerBuilder {
  private let plan: ReportPlan
  private let limit: Int
  private let search: TextSearch
  private let listsWindows: Bool
  private let watermark: Int64
  private let measures: MeasureAnswer
  private var windows: [ReportAnswer.Window] = []
  private(set) var needsSecondReading = false
  private var chosen: Set<Int> = []
  /// Every group over all windows.
  private var keys = ByteInterner()
  private var names: [[UInt8]] = []
  private var values: [[AnswerValue]] = []
  private var cells: [Cell] = []
  private var other: Cell?
  private var folded: UInt64 = 0

  init(
    _ plan: ReportPlan, _ question: ReportQuestion, watermark: Int64, people: PeopleJoin?
  ) {
    self.plan = plan
    limit = max(1, question.groups)
    search = TextSearch(question.search)
    listsWindows = question.listsWindows
    self.watermark = watermark
    measures = MeasureAnswer(plan: plan, people: people)
  }

  mutating func add(_ window: WindowState) {
    folded += window.folded
    for (index, cell) in window.cells.enumerated() {
      let key = window.keys[index]
      if let number = keys.find(key) {
        cells[number].merge(cell, plan.shape)
      } else {
        _ = keys.intern(key)
        names.append(key)
        values.append(GroupKey.values(key))
        cells.append(cell)
      }
    }
    if let more = window.other {
      if other == nil { other = more } else { other?.merge(more, plan.shape) }
    }
    if hasGroups, cells.count > limit || !search.isEmpty {
      needsSecondReading = true
      windows.removeAll()
    }
    if !needsSecondReading, listsWindows { windows.append(answer(window)) }
  }

  /// All windows were added: chooses the groups. Then each window is shown again.
  mutating func beginSecondReading() {
    chosen = Set(order.prefix(limit))
  }

  mutating func show(_ window: WindowState) { windows.append(answer(window)) }

  /// The groups that are asked for, the one with the most events first, of equal ones those whose values
  /// come first.
  private var order: [Int] {
    cells.indices.filter { search.isEmpty || search.matches(values[$0].first?.plain ?? "") }
      .sorted { a, b in
        cells[a].count != cells[b].count
          ? cells[a].count > cells[b].count : names[a].lexicographicallyPrecedes(names[b])
      }
  }

  func answer(_ question: ReportQuestion, _ counters: ReportCounters) -> ReportAnswer {
    let order = order
    let shown = order.prefix(limit)
    var groups = hasGroups ? shown.map { group($0, cells[$0]) } : []
    var total = other ?? Cell(plan.shape)
    for cell in cells { total.merge(cell, plan.shape) }
    if let other, hasGroups { groups.append(self.other(other, folded)) }
    return ReportAnswer(
      definition: plan.definition, zone: plan.rule.zone, kind: plan.definition.content.kind,
      counters: counters,
      watermark: watermark, from: question.from, to: question.to, windows: windows,
      groups: groups, total: self.total(total),
      groupsLeftOut: hasGroups ? order.count - shown.count : 0)
  }

  private func answer(_ window: WindowState) -> ReportAnswer.Window {
    var groups: [ReportAnswer.Group] = []
    if hasGroups {
      let order = window.cells.indices.map { index in
        (cell: index, count: window.cells[index].count, group: keys.find(window.keys[index]) ?? 0)
      }.sorted { a, b in
        a.count != b.count
          ? a.count > b.count : names[a.group].lexicographicallyPrecedes(names[b.group])
      }
      groups.reserveCapacity(order.count + 1)
      for entry in order where !needsSecondReading || chosen.contains(entry.group) {
        groups.append(group(entry.group, window.cells[entry.cell]))
      }
      if let more = window.other { groups.append(other(more, window.folded)) }
    }
    return ReportAnswer.Window(
      range: window.range, state: state(window.range), groups: groups, total: total(window.total))
  }

  private var hasGroups: Bool {
    if case .measures(_, let by) = plan.kind { !by.isEmpty } else { false }
  }

  private func group(_ number: Int, _ cell: Cell) -> ReportAnswer.Group {
    ReportAnswer.Group(
      by: values[number], mayMiss: cell.mayMiss, members: members(cell))
  }

  private func other(_ cell: Cell, _ folded: UInt64) -> ReportAnswer.Group {
    ReportAnswer.Group(by: [], isOther: true, folded: folded, members: members(cell))
  }

  private func total(_ cell: Cell) -> ReportAnswer.Group {
    ReportAnswer.Group(by: [], members: members(cell))
  }

  private func members(_ cell: Cell) -> [(key: String, value: AnswerValue)] {
    if case .measures = plan.definition.content { return measures.members(cell) }
    return TallyAnswer.members(cell, plan.definition.content)
  }

  private func state(_ range: Range<Int64>) -> String {
    if watermark < ReportPlan.nanoseconds(range.upperBound) { return "open" }
    return watermark < plan.closing(range) ? "settling" : "closed"
  }
}
