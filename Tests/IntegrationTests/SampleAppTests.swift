import Foundation
import Primitives
import TestSupport
import Testing

/// An app, a collector that is stopped and started, the bus and the archive.
@Suite(.timeLimit(.minutes(3)))
struct SampleAppTests {
  /// The app, and how many events it was told to track.
  final class App {
    private let folder: TemporaryFolder
    private let endpoint: String
    private var process: ChildProcess
    private(set) var played = 0
    /// messageIds of requests that got no answer.
    private(set) var cut: Set<String> = []

    init(endpoint: String) throws {
      folder = try TemporaryFolder()
      self.endpoint = endpoint
      process = try Self.start(endpoint, folder, first: 1)
    }

    private static func start(
      _ endpoint: String, _ folder: TemporaryFolder, first: Int
    ) throws -> ChildProcess {
      let path = URL(fileURLWithPath: Program.path).deletingLastPathComponent()
        .appendingPathComponent("sample-app").path
      let process = try ChildProcess(
        path, [endpoint, TestCollector.key, folder.path, "\(first)"])
      try #require(
        process.output.waitForLine { $0 == "ready" } != nil, "\(process.errorOutput.text)")
      return process
    }

    func play(_ count: Int) throws {
      try process.write("play \(count)\n")
      played += count
    }

    func ask(_ words: String, _ answer: String) throws -> String {
      let before = process.output.text.split(separator: "\n").count { $0.hasPrefix(answer) }
      try process.write(words + "\n")
      try #require(
        waitUntil {
          process.output.text.split(separator: "\n").count { $0.hasPrefix(answer) } > before
        }, "\(process.output.text) \(process.errorOutput.text)")
      return String(
        process.output.text.split(separator: "\n").last { $0.hasPrefix(answer) } ?? "")
    }

    /// Ends as a crash does, once what waits is on disk, and starts again.
    func killAndStart() throws {
      _ = try ask("stored", "stored")
      process.signal(SIGKILL)
      process.wait()
      collectCut()
      process = try Self.start(endpoint, folder, first: played + 1)
    }

    func end() throws -> ChildProcess.Status {
      _ = try ask("end", "ended")
      let status = process.wait()
      collectCut()
      return status
    }

    private func collectCut() {
      for line in process.output.text.split(separator: "\n") where line.hasPrefix("cut ") {
        cut.formUnion(line.dropFirst(4).split(separator: ",").map(String.init))
      }
    }
  }

  private func collector(_ broker: TestBroker, port: Int) throws -> TestCollector {
    try TestCollector(
      bus: broker.bus,
      ["--write-key", TestCollector.key, "--listen", "127.0.0.1:\(port)"])
  }

  @Test
  func `each event of an app is archived once and in order while its collector comes and goes`()
    throws
  {
    let broker = try TestBroker()
    let archiver = try TestArchiver(broker)
    let port = try FreePorts.base()
    let app = try App(endpoint: "http://127.0.0.1:\(port)/v1/events")
    // The collector is not there yet: the app does not mind.
    try app.play(100)
    for round in 0..<8 {
      let collector = try collector(broker, port: port)
      try app.play(150)
      if round.isMultiple(of: 3) { _ = try app.ask("flush", "flushed") }
      try app.play(150)
      if round.isMultiple(of: 2) {
        collector.process.signal(SIGKILL)
        collector.process.wait()
      } else {
        #expect(collector.stop() == .exited(0))
      }
      try app.play(50)
      if round % 3 == 1 { try app.killAndStart() }
    }
    let last = try collector(broker, port: port)
    try #require(waitUntil(.seconds(60)) { try app.ask("flush", "flushed") == "flushed 0" })
    let metrics = try app.ask("metrics", "restored=")
    #expect(metrics.contains("refused=0 shed=0 waiting=0"), "\(metrics)")
    #expect(try app.end() == .exited(0))
    #expect(last.stop() == .exited(0))

    let journal = try broker.stored()
    #expect(archiver.waitForCursor(journal.count))
    let events = try archiver.events()
    #expect(events.map { $0["properties"]?["n"]?.int } == (1...app.played).map { $0 })
    #expect(Set(events.map { $0["event"]?.text }).count == 6)
    #expect(events.count { $0["event"]?.text == "Order Placed" } > 100)
    #expect(Set(events.map { $0["anonymousId"]?.text }).count == 1)
    let counts = Dictionary(grouping: journal) { $0["messageId"]?.text ?? "" }.mapValues(\.count)
    let doubles = Set(counts.filter { $0.value > 1 }.keys)
    #expect(doubles.isSubset(of: app.cut), "\(doubles.count) came twice")
    _ = archiver.stop()
  }
}
