import DestinationTestSupport
import Foundation
import TestSupport
import Testing

/// A publisher that is killed again and again, and what it had stored each time: by that, each event
/// that comes twice can be explained.
final class Kills {
  private let broker: TestBroker
  private let publisher: TestPublisher
  private let fake: FakeServer<FakeSegment>
  /// How many requests had come, and up to which offset all was settled and stored.
  private var kills: [(requests: Int, cursor: Int)] = []

  init(_ publisher: TestPublisher, _ fake: FakeServer<FakeSegment>, _ broker: TestBroker) {
    self.publisher = publisher
    self.fake = fake
    self.broker = broker
  }

  /// Kills and starts it so often as the events come in; returns when the provider has them all.
  func play(_ times: Int, until count: Int) throws {
    for kill in 1...times {
      let goal = count * kill / (times + 1)
      let reached = waitUntil(.seconds(60)) { fake.ask { $0.stored.count } >= goal }
      #expect(reached, "kill \(kill): \(publisher.errors)")
      publisher.kill()
      let requests = fake.ask { $0.requests.count }
      kills.append((requests, try cursor()))
      try publisher.start()
    }
    let isThere = waitUntil(.seconds(60)) { fake.ask { $0.stored.count } >= count }
    #expect(isThere, "\(publisher.errors)")
    #expect(publisher.stop() == .exited(0), "\(publisher.errors)")
  }

  /// From the state file of a publisher that does not run; 0 before it stored anything.
  private func cursor() throws -> Int {
    let run = try Program.run(["status", "--json", "--bus", broker.bus, "--data", publisher.data])
    guard case .list(let found)? = try JSONValue(text: run.output)["destinations"] else {
      Issue.record("\(run.output) \(run.errors)")
      return 0
    }
    return found.first?["ledger"]?["cursor"]?.int ?? 0
  }

  /// Events that came again although they were behind the stored cursor at the kill before.
  func unexplained(_ ledger: FakeLedger) throws -> [String] {
    let tail = try Program.run([
      "tail", "--bus", broker.bus, "--since", "earliest", "--until-end", "--template",
      "{offset} {messageId}",
    ])
    var offsets: [Substring: Int] = [:]
    for line in tail.lines {
      let words = line.split(separator: " ")
      try #require(words.count == 2, "\(line)")
      offsets[words[1]] = Int(words[0])
    }
    return ledger.doubles.filter { double in
      guard let kill = kills.last(where: { $0.requests < double.request }),
        let offset = offsets[double.id[...]]
      else { return true }
      return offset < kill.cursor
    }.map(\.id)
  }
}
