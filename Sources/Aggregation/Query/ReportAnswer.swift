internal import Primitives

/// The answer to a question about one report: its windows in a period, and the period as a whole.
public struct ReportAnswer: Sendable {
  struct Group: Sendable {
    /// The values it is told apart by; empty for a report without breakdown.
    var by: [AnswerValue]
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

  /// One JSON document.
  public var json: [UInt8] {
    var members: [(key: String, value: AnswerValue)] = [
      ("report", .text(definition.name)), ("title", .text(definition.title)), ("kind", .text(kind)),
      ("window", .text(definition.window.rawValue)), ("zone", .text(definition.zone)),
      ("by", .list(dimensions.map { .text($0) })),
      ("from", from.map { .text(zone.text($0)) } ?? .null),
      ("to", to.map { .text(zone.text($0)) } ?? .null),
      (
        "watermark",
        watermark == .min ? .null : .text(Timestamp(nanoseconds: watermark).text)
      ),
      ("events", .count(counters.matched)), ("late", .count(counters.late)),
      ("withoutUser", .count(counters.withoutUser)), ("unreadable", .count(counters.unreadable)),
      ("trimmed", .count(counters.trimmed)),
    ]
    members.append(("total", Self.object(total)))
    members.append(("groups", .list(groups.map(Self.object))))
    members.append(("groupsLeftOut", .whole(Int128(groupsLeftOut))))
    members.append(("windows", .list(windows.map(object))))
    return AnswerValue.object(members).json
  }

  var dimensions: [String] {
    if case .measures(_, let by) = definition.content { by.map(\.name) } else { [] }
  }

  private func object(_ window: Window) -> AnswerValue {
    var members: [(key: String, value: AnswerValue)] = []
    if definition.window != .all {
      members.append(("start", .text(zone.text(window.range.lowerBound))))
      members.append(("end", .text(zone.text(window.range.upperBound))))
    }
    members.append(("state", .text(window.state)))
    members.append(("total", Self.object(window.total)))
    if !dimensions.isEmpty { members.append(("groups", .list(window.groups.map(Self.object)))) }
    return .object(members)
  }

  private static func object(_ group: Group) -> AnswerValue {
    var members: [(key: String, value: AnswerValue)] = []
    if !group.by.isEmpty { members.append(("by", .list(group.by))) }
    if group.isOther {
      members.append(("other", .boolean(true)))
      members.append(("folded", .count(group.folded)))
    }
    if group.mayMiss > 0 { members.append(("mayMiss", .count(group.mayMiss))) }
    return .object(members + group.members)
  }
}
