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
  private let isMeasures: Bool
  private let hasGroups: Bool
  private var windows: [ReportAnswer.Window] = []
  private(set) var needsSecondReading = false
  private var chosen: Set<Int> = []
  /// Every group over all windows.
  private var keys = ByteInterner()
  private var names: [[UInt8]] = []
  private var groupNames: [ReportAnswer.GroupName] = []
  private var cells: [Cell] = []
  private var other: Cell?
  private var folded: UInt64 = 0
  /// Of retention: by period, the users of all windows for whom it has begun.
  private var eligible: [Int64] = []

  init(
    _ plan: ReportPlan, _ question: ReportQuestion, watermark: Int64, people: PeopleJoin?
  ) {
    self.plan = plan
    limit = max(1, question.groups)
    search = TextSearch(question.search)
    listsWindows = question.listsWindows
    self.watermark = watermark
    if case .measures(_, let by) = plan.definition.content {
      (isMeasures, hasGroups) = (true, !by.isEmpty)
    } else {
      (isMeasures, hasGroups) = (false, false)
    }
    measures = MeasureAnswer(plan: plan, people: people)
    if case .retention(_, _, let periods) = plan.kind {
      eligible = [Int64](repeating: 0, count: periods + 1)
    }
  }

  mutating func add(_ window: WindowState) {
    folded += window.folded
    for (period, users) in eligible(window).enumerated() { eligible[period] += users }
    let own = window.keys
    var groups: [Int] = []
    groups.reserveCapacity(window.cells.count)
    for cell in window.cells.indices { groups.append(add(window.cells[cell], own.key(cell))) }
    if let more = window.other {
      if other == nil { other = more } else { other?.merge(more, plan.shape) }
    }
    if hasGroups, cells.count > limit || !search.isEmpty {
      needsSecondReading = true
      windows.removeAll()
    }
    if !needsSecondReading, listsWindows { windows.append(answer(window, groups)) }
  }

  /// The number of the cell's group, given now if it is new.
  private mutating func add(_ cell: Cell, _ key: RawSpan) -> Int {
    if let number = keys.find(key) {
      cells[number].merge(cell, plan.shape)
      return number
    }
    names.append(key.copied())
    groupNames.append(ReportAnswer.GroupName(GroupKey.values(names[names.count - 1])))
    cells.append(cell)
    return keys.intern(key)
  }

  /// All windows were added: chooses the groups. Then each window is shown again.
  mutating func beginSecondReading() {
    chosen = Set(order.prefix(limit))
  }

  mutating func show(_ window: WindowState) {
    let own = window.keys
    let groups = window.cells.indices.map { keys.find(own.key($0)) ?? 0 }
    windows.append(answer(window, groups))
  }

  /// The groups that are asked for, the one with the most events first, of equal ones those whose values
  /// come first.
  private var order: [Int] {
    cells.indices.filter {
      search.isEmpty || search.matches(groupNames[$0].values.first?.plain ?? "")
    }
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
    let zone = plan.rule.zone
    return ReportAnswer(
      definition: plan.definition, zone: zone, kind: plan.definition.content.kind,
      counters: counters, watermark: watermark, from: question.from?.second(in: zone),
      to: question.to?.second(in: zone), windows: windows,
      groups: groups, total: self.total(total, eligible),
      groupsLeftOut: hasGroups ? order.count - shown.count : 0)
  }

  /// - Parameter numbers: the group of each cell.
  private func answer(_ window: WindowState, _ numbers: [Int]) -> ReportAnswer.Window {
    var groups: [ReportAnswer.Group] = []
    if hasGroups {
      groups.reserveCapacity(numbers.count + 1)
      for cell in order(window, numbers) where !needsSecondReading || chosen.contains(numbers[cell])
      {
        groups.append(group(numbers[cell], window.cells[cell]))
      }
      if let more = window.other { groups.append(other(more, window.folded)) }
    }
    return ReportAnswer.Window(
      range: window.range, state: state(window.range), groups: groups,
      total: total(window.total, eligible(window)))
  }

  /// The window's users in each period that has begun, by the watermark.
  private func eligible(_ window: WindowState) -> [Int64] {
    var users = [Int64](repeating: 0, count: eligible.count)
    guard !users.isEmpty, let all = window.total.tallies.first else { return users }
    var period = window.range
    for place in users.indices {
      users[place] = all
      guard period.upperBound < .max, ReportPlan.nanoseconds(period.upperBound) <= watermark else {
        break
      }
      period = plan.rule.window(at: period.upperBound)
    }
    return users
  }

  private func order(_ window: WindowState, _ numbers: [Int]) -> [Int] {
    var counts: [UInt64] = []
    counts.reserveCapacity(numbers.count)
    for cell in window.cells.indices { counts.append(window.cells[cell].count) }
    // Of its own, lest the whole builder be copied for the comparison.
    let names = names
    return counts.indices.sorted { a, b in
      counts[a] != counts[b]
        ? counts[a] > counts[b] : names[numbers[a]].lexicographicallyPrecedes(names[numbers[b]])
    }
  }

  private func group(_ number: Int, _ cell: Cell) -> ReportAnswer.Group {
    ReportAnswer.Group(
      name: groupNames[number], mayMiss: cell.mayMiss, members: members(cell))
  }

  private func other(_ cell: Cell, _ folded: UInt64) -> ReportAnswer.Group {
    ReportAnswer.Group(isOther: true, folded: folded, members: members(cell))
  }

  private func total(_ cell: Cell, _ eligible: [Int64]) -> ReportAnswer.Group {
    ReportAnswer.Group(members: members(cell, eligible))
  }

  private func members(
    _ cell: Cell, _ eligible: [Int64] = []
  ) -> [(key: String, value: AnswerValue)] {
    guard !isMeasures else { return measures.members(cell) }
    return TallyAnswer.members(cell, plan.definition.content, eligible: eligible)
  }

  private func state(_ range: Range<Int64>) -> String {
    if watermark < ReportPlan.nanoseconds(range.upperBound) { return "open" }
    return watermark < plan.closing(range) ? "settling" : "closed"
  }
}
