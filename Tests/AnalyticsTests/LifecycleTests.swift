import AnalyticsTestSupport
import Foundation
import Primitives
import TestSupport
import Testing

@testable import Analytics

/// Application Opened and its kin, each once.
@Suite(.timeLimit(.minutes(5)))
struct LifecycleTests {
  struct Run: Decodable, Sendable {
    var run: Int
    var storedVersion: String?
    var version: String?
    var build: String?
    var from: String
    var expect: [String]
  }

  /// The case's own file; it lies beside the repository, where it is there.
  private static let casesFile = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().appendingPathComponent("shared/cases/inputs/M01.json").path

  /// The same runs, for machines without that file.
  static let runs: [Run] = [
    Run(
      run: 1, version: "1.0", build: "10", from: "cold",
      expect: ["Application Installed", "Application Opened"]),
    Run(
      run: 2, storedVersion: "1.0", version: "1.0", build: "10", from: "cold",
      expect: ["Application Opened"]),
    Run(
      run: 2, from: "background", expect: ["Application Backgrounded", "Application Opened"]),
    Run(
      run: 3, storedVersion: "1.0", version: "1.1", build: "11", from: "cold",
      expect: ["Application Updated", "Application Opened"]),
    Run(
      run: 4, storedVersion: "1.1", version: "1.1", build: "12", from: "cold",
      expect: ["Application Updated", "Application Opened"]),
    Run(
      run: 5, storedVersion: "1.1", version: "1.0", build: "10", from: "cold",
      expect: ["Application Updated", "Application Opened"]),
  ]

  @Test func `M01 the runs of the case give exactly the events it lists`() throws {
    try check(Self.runs)
    if let data = FileManager.default.contents(atPath: Self.casesFile) {
      try check(JSONDecoder().decode([Run].self, from: data))
    } else {
      print("analytics tests: \(Self.casesFile) is not there; its runs stand in the test as well")
    }
  }

  /// Plays the runs one after another, each notification told twice, as systems do.
  private func check(_ runs: [Run]) throws {
    var core = LifecycleCore()
    let time = Timestamp(nanoseconds: 1)
    for run in runs {
      var notices: [LifecycleNotice] = [.backgrounded, .foregrounded]
      if run.from == "cold" {
        core = LifecycleCore(stored: core.stored)
        #expect(core.stored?.version == run.storedVersion, "run \(run.run)")
        notices = [
          .launched(version: try #require(run.version), build: try #require(run.build)),
          .foregrounded,
        ]
      }
      let events = notices.flatMap { core.take($0, at: time) + core.take($0, at: time) }
      #expect(events.map(\.name) == run.expect, "run \(run.run)")
    }
  }

  @Test func `M01 launches, the background and updates through the service and its file`()
    async throws
  {
    let folder = try TemporaryFolder()
    var names: [[String]] = []
    var last: [EventEnvelope] = []
    for (index, version) in [("1.0", "10"), ("1.0", "10"), ("1.1", "11")].enumerated() {
      let path = folder.file("launch-\(index)")
      if index > 0 {
        for suffix in ["", "-wal"] {
          let from = folder.file("launch-\(index - 1)") + suffix
          guard FileManager.default.fileExists(atPath: from) else { continue }
          try FileManager.default.copyItem(atPath: from, toPath: path + suffix)
        }
      }
      let recorder = AnalyticsRecorder()
      let service = try AnalyticsService(.init(storePath: path), providers: [recorder])
      service.applicationForegrounded()
      service.applicationLaunched(version: version.0, build: version.1)
      service.applicationForegrounded()
      service.applicationLaunched(version: version.0, build: version.1)
      service.applicationBackgrounded()
      service.applicationBackgrounded()
      service.applicationForegrounded()
      await service.flush()
      names.append(recorder.names.map(\.rawValue))
      last = recorder.envelopes
    }
    let rest = ["Application Opened", "Application Backgrounded", "Application Opened"]
    #expect(
      names == [["Application Installed"] + rest, rest, ["Application Updated"] + rest])
    #expect(
      last[0].properties == [
        "previous_version": "1.0", "previous_build": "10", "version": "1.1", "build": "11",
      ])
    #expect(
      last[1].properties == ["from_background": false, "version": "1.1", "build": "11"])
    #expect(last[3].properties == ["from_background": true])
  }

  @Test func `S1.5 going to the background sends what waits`() async throws {
    let transport = FakeTransport()
    var configuration = AnalyticsClientConfiguration(endpoint: "http://collector.example/")
    configuration.flushInterval = .seconds(3600)
    let client = try AnalyticsClient(configuration, transport: transport)
    let service = try AnalyticsService(providers: [client])
    service.applicationLaunched(version: "1", build: "1")
    service.track(EventType.GameReset())
    service.applicationBackgrounded()
    #expect(await eventually { transport.acceptedEvents.count == 4 })
    #expect(transport.acceptedNames.last == "Application Backgrounded")
  }
}
