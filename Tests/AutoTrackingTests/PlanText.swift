import EventModel
import TrackingPlan

/// Plans for the tests.
enum PlanText {
  static func plan(
    version: Int = 1, _ entries: String, rest: String = ""
  ) throws -> PublishedPlan {
    let text =
      "{\"version\": \(version), \"collection\": {\"events\": [\(entries)]\(rest)}}"
    return try PublishedPlan(try PlanDocument(parsing: Array(text.utf8)))
  }

  static func entry(_ event: String, _ paths: String..., properties: String = "") -> String {
    let list = paths.map { "\"\($0)\"" }.joined(separator: ", ")
    return "{\"event\": \"\(event)\", \"paths\": [\(list)], \"properties\": {\(properties)}}"
  }
}
