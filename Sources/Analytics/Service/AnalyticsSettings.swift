// What a service keeps between launches, as rows of the store's table `setting`:
//
//   anonymousId  made once; a new one after `reset`
//   userId       after `identify` or `alias`, until `reset`
//   optedOut     "1" when the person does not want to be tracked
//   version      of the app at its last launch, and
//   build        its build: what tells an update from a first launch
//
// After an opt-out nothing is left but `optedOut`, `version` and `build`.

struct AnalyticsSettings: Sendable, Hashable {
  var anonymousId: String?
  var userId: String?
  var isOptedOut = false
  var version: LifecycleCore.Version?

  init() {}

  init(_ rows: [String: String]) {
    anonymousId = rows["anonymousId"]
    userId = rows["userId"]
    isOptedOut = rows["optedOut"] == "1"
    if let version = rows["version"], let build = rows["build"] {
      self.version = .init(version: version, build: build)
    }
  }

  var rows: [String: String] {
    var rows: [String: String] = [:]
    rows["anonymousId"] = anonymousId
    rows["userId"] = userId
    if isOptedOut { rows["optedOut"] = "1" }
    rows["version"] = version?.version
    rows["build"] = version?.build
    return rows
  }
}
