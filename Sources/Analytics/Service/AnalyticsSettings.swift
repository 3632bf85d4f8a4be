// What a service keeps between launches, as rows of the store's table `setting`:
//
//   anonymousId  made once; a new one after `reset`
//   userId       after `identify` or `alias`, until `reset`
//   optedOut     "1" when the person does not want to be tracked, "0" when they were asked and do
//   version      of the app at its last launch, and
//   build        its build: what tells an update from a first launch
//
// After an opt-out nothing is left but `optedOut`, `version` and `build`, and the mark of OptOutMark.swift.

struct AnalyticsSettings: Sendable, Hashable {
  /// Whether to be tracked.
  enum Choice: String { case optedIn = "0", optedOut = "1" }

  var anonymousId: String?
  var userId: String?
  /// What the person said; nil while they said nothing.
  var choice: Choice?
  var version: LifecycleCore.Version?

  init() {}

  init(_ rows: [String: String]) {
    anonymousId = rows["anonymousId"]
    userId = rows["userId"]
    choice = rows["optedOut"].flatMap(Choice.init)
    if let version = rows["version"], let build = rows["build"] {
      self.version = .init(version: version, build: build)
    }
  }

  var rows: [String: String] {
    var rows: [String: String] = [:]
    rows["anonymousId"] = anonymousId
    rows["userId"] = userId
    rows["optedOut"] = choice?.rawValue
    rows["version"] = version?.version
    rows["build"] = version?.build
    return rows
  }
}
