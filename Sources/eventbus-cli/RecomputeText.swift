import Aggregation
import ServiceRuntime

/// What `aggregator recompute` says: what agreed and what did not, with the numbers that were compared.
enum RecomputeText {
  static func show(
    _ comparisons: [Recomputation.Comparison], archived: UInt64, journal: UInt64, isJSON: Bool
  ) {
    if isJSON {
      return Terminal.output("\(json(comparisons, archived, journal))\n")
    }
    var table = Table([
      .init("report"), .init("recomputed"), .init("windows", .right), .init("differ", .right),
      .init("events", .right), .init("before", .right), .init("first difference"),
    ])
    for comparison in comparisons {
      let isKnown = comparison.isSame != nil
      table.append([
        comparison.report, word(comparison), "\(comparison.windows)",
        isKnown ? "\(comparison.differingWindows)" : "", "\(comparison.events)",
        isKnown ? "\(comparison.eventsBefore)" : "", comparison.firstDifference ?? "",
      ])
    }
    Terminal.output(table.text)
    Terminal.output(
      "\n\(archived + journal) events read again, \(archived) of the archive and \(journal) of the "
        + "journal: \(summary(comparisons))\n")
    if comparisons.contains(where: { $0.isSame == false }) {
      Terminal.error(
        "A report differs where people were forgotten since it was counted, or where it was changed; "
          + "--replace takes the archive's numbers")
    }
  }

  private static func word(_ comparison: Recomputation.Comparison) -> String {
    comparison.isSame.map { $0 ? "the same" : "DIFFERS" } ?? "not counted yet"
  }

  /// `5 reports with 120 windows are the same, byte for byte; 1 differs`
  static func summary(_ comparisons: [Recomputation.Comparison]) -> String {
    let same = comparisons.filter { $0.isSame == true }
    let windows = same.reduce(0) { $0 + $1.windows }
    var parts: [String]
    switch same.count {
    case 0: parts = ["no report is the same"]
    case 1: parts = ["1 report with \(windows) windows is the same, byte for byte"]
    default: parts = ["\(same.count) reports with \(windows) windows are the same, byte for byte"]
    }
    let different = comparisons.count { $0.isSame == false }
    if different > 0 { parts.append("\(different) \(different == 1 ? "differs" : "differ")") }
    let unknown = comparisons.count { $0.isSame == nil }
    if unknown > 0 { parts.append("\(unknown) not counted by the aggregator yet") }
    return parts.joined(separator: "; ")
  }

  private static func json(
    _ comparisons: [Recomputation.Comparison], _ archived: UInt64, _ journal: UInt64
  ) -> JSONText {
    let reports = comparisons.map { comparison in
      JSONText.object([
        .init("report", .text(comparison.report)),
        .init("same", comparison.isSame.map { .boolean($0) } ?? .null),
        .init("windows", .integer(Int64(comparison.windows))),
        .init("events", .integer(Int64(clamping: comparison.events))),
        .init("differingWindows", .integer(Int64(comparison.differingWindows))),
      ])
    }
    return .object([
      .init("archived", .integer(Int64(clamping: archived))),
      .init("journal", .integer(Int64(clamping: journal))), .init("reports", .list(reports)),
    ])
  }
}
