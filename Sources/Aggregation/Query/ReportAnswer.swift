internal import Primitives

/// The answer to a question about one report: its windows in a period, and the period as a whole.
public struct ReportAnswer: Sendable {
  /// The values that a group is told apart by. Made once, however many windows show the group.
  final class GroupName: Sendable {
    let values: [AnswerValue]
    let json: [UInt8]

    init(_ values: [AnswerValue]) {
      self.values = values
      json = AnswerValue.list(values).json
    }
  }

  struct Group: Sendable {
    /// Nil for a report without breakdown, and for all groups together.
    var name: GroupName?
    /// It stands for all groups that have none of their own.
    var isOther = false
    var mayMiss: UInt64 = 0
    var folded: UInt64 = 0
    var members: [(key: String, value: AnswerValue)]
  }

  struct Window: Sendable {
    /// First second and the one after the last.
    var range: Range<Int64>
    /// `open` while its time runs, `settling` while late events still correct it, `closed` then.
    var state: String
    var groups: [Group]
    /// All groups together.
    var total: Group
  }

  var definition: ReportDefinition
  var zone: CivilTime
  var kind: String
  var counters: ReportCounters
  var watermark: Int64
  /// What the period was cut to.
  var from: Int64?
  var to: Int64?
  var windows: [Window]
  /// Each group over all windows, the one with the most events first.
  var groups: [Group]
  var total: Group
  /// Groups that the answer leaves out, since so many were asked for only.
  var groupsLeftOut = 0

  /// `hour`, `day`: for titles.
  public var windowName: String { definition.window.rawValue }

  var dimensions: [String] {
    if case .measures(_, let by) = definition.content { by.map(\.name) } else { [] }
  }
}
