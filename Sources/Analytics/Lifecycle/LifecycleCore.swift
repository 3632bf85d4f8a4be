internal import Primitives

/// What the system says about the app's life. Notifications come more than once, and in pairs: telling the
/// core each of them is right, it knows which are news.
enum LifecycleNotice: Sendable, Hashable {
  /// The process has started; the version and build of the program.
  case launched(version: String, build: String)
  case backgrounded
  /// It came to the front; also told after a launch, where it is no news.
  case foregrounded
}

/// Decides which lifecycle events there are, each once:
///
/// | event | when | properties |
/// |---|---|---|
/// | Application Installed | the first launch that knows of no other | `version`, `build` |
/// | Application Updated | version or build differ from the last launch's, either way | `previous_version`, `previous_build`, `version`, `build` |
/// | Application Opened | a launch, and each return from the background | `from_background`; at a launch `version`, `build` |
/// | Application Backgrounded | it leaves the front | none |
struct LifecycleCore: Sendable {
  struct Version: Sendable, Hashable {
    var version: String
    var build: String
  }

  private enum Phase { case notLaunched, front, background }

  private var phase = Phase.notLaunched
  /// Of the last launch that was told; kept by the service.
  var stored: Version?

  /// False where an earlier launch is known of, if only by a file that cannot be read.
  var isFirstLaunch: Bool

  init(stored: Version? = nil) {
    self.stored = stored
    isFirstLaunch = stored == nil
  }

  /// The events of a notice; empty when it is no news.
  mutating func take(_ notice: LifecycleNotice, at time: Timestamp) -> [AnalyticsEvent] {
    switch (notice, phase) {
    case (.launched(let version, let build), .notLaunched):
      phase = .front
      return launch(Version(version: version, build: build), at: time)
    case (.backgrounded, .front):
      phase = .background
      return [AnalyticsEvent("Application Backgrounded", timestamp: time)]
    case (.foregrounded, .background):
      phase = .front
      return [
        AnalyticsEvent("Application Opened", timestamp: time, properties: ["from_background": true])
      ]
    case (.launched, _), (.backgrounded, _), (.foregrounded, _): return []
    }
  }

  private mutating func launch(_ version: Version, at time: Timestamp) -> [AnalyticsEvent] {
    let now: PropertyObject = [
      "version": .string(version.version), "build": .string(version.build),
    ]
    var events: [AnalyticsEvent] = []
    if let stored, stored != version {
      let before: PropertyObject = [
        "previous_version": .string(stored.version), "previous_build": .string(stored.build),
      ]
      events.append(
        AnalyticsEvent("Application Updated", timestamp: time, properties: before.merging(now)))
    } else if isFirstLaunch {
      events.append(AnalyticsEvent("Application Installed", timestamp: time, properties: now))
    }
    stored = version
    isFirstLaunch = false
    let opened: PropertyObject = ["from_background": false]
    return events + [
      AnalyticsEvent("Application Opened", timestamp: time, properties: opened.merging(now))
    ]
  }
}
