import BusBroker
import BusClient
import BusProtocol
import Foundation
import Primitives
import Synchronization
import TestSupport
import Testing

@testable import Archive

/// A replay over a real broker, from an archive of two epochs.
@Suite(.timeLimit(.minutes(2)))
struct ReplayRunTests {
  private static func archive() throws -> SampleArchive {
    let archive = try SampleArchive()
    for (part, epoch) in [(0, 1), (1, 1), (2, 1_700_000_000)] as [(Int, UInt32)] {
      try archive.add(
        (0..<400).map {
          SampleArchive.event("Name \($0 % 3)", second: $0, user: "\"user-\($0 % 10)\"")
        }, epoch: epoch, hour: part)
    }
    return archive
  }

  private static func broker(_ folder: TemporaryFolder) throws -> Broker {
    var configuration = BrokerConfiguration(directory: folder.file("journal"))
    configuration.busAddress = "tcp://127.0.0.1:*"
    configuration.liveAddress = "tcp://127.0.0.1:*"
    configuration.publishAddress = "tcp://127.0.0.1:*"
    configuration.pushAddress = "tcp://127.0.0.1:*"
    return try Broker(configuration)
  }

  private static func replay(
    _ archive: SampleArchive, filter: ArchiveFilter = ArchiveFilter(), again: Bool = false
  ) throws -> Replay {
    try Replay(
      try ReplaySource(archive.path),
      ReplayDefinition(subscribers: ["sink"], conditions: []), filter,
      stateFolder: archive.folder.file("replays"), again: again)
  }

  private static func run(
    _ replay: inout Replay, _ broker: Broker, _ steering: Replay.Steering = .init()
  ) throws -> Replay.Report {
    try replay.run(deadline: .seconds(10), steering) { identity, _ throws(BusClientError) in
      var configuration = ProducerConfiguration(address: broker.addresses.bus, client: "test")
      configuration.identity = .bytes(identity)
      configuration.addressees = ["sink"]
      configuration.batchEvents = 10
      let producer = try Producer(configuration)
      return try producer.waitUntilConnected(deadline: .seconds(10)) ? producer : nil
    }
  }

  /// What the sink gets, as the archive's lines without their last fields.
  private static func received(_ broker: Broker, count: Int) throws -> [String] {
    let subscriber = try Subscriber(
      SubscriberConfiguration(address: broker.addresses.bus, client: "test", name: "sink"))
    var lines: [String] = []
    while lines.count < count, let batch = try subscriber.nextBatch(deadline: .seconds(10)) {
      for event in batch.events {
        #expect(event.isAddressed)
        lines.append(
          String(decoding: try RandomEvents.line(event.payload), as: UTF8.self).withoutPlace)
      }
      subscriber.commit(batch)
    }
    // Nothing follows.
    let rest = try subscriber.nextBatch(deadline: .milliseconds(50))?.count ?? 0
    #expect(rest == 0)
    return lines
  }

  @Test func `cancelled again and again it sends every epoch once`() throws {
    let archive = try Self.archive()
    let folder = try TemporaryFolder()
    let broker = try Self.broker(folder)
    var isComplete = false
    var runs = 0
    while !isComplete, runs < 50 {
      var replay = try Self.replay(archive)
      let limit = LimitedRun(150)
      var steering = Replay.Steering()
      steering.isCancelled = { limit.isReached }
      steering.onProgress = { limit.update($0) }
      let report = try Self.run(&replay, broker, steering)
      #expect(report.unacknowledged == 0 && report.refused == 0)
      isComplete = report.isComplete
      runs += 1
    }
    #expect((8...12).contains(runs))
    #expect(try Self.received(broker, count: 1200) == archive.lines.map(\.withoutPlace))
    var repeated = try Self.replay(archive)
    #expect(repeated.isResumed)
    #expect(try Self.run(&repeated, broker).published == 0)
    var again = try Self.replay(archive, again: true)
    #expect(try Self.run(&again, broker).acknowledged == 1200)
    broker.stop()
    broker.join()
  }

  @Test func `a lost state costs reading, not doubles`() throws {
    let archive = try Self.archive()
    let folder = try TemporaryFolder()
    let broker = try Self.broker(folder)
    for run in 0..<2 {
      var replay = try Self.replay(archive)
      #expect(!replay.isResumed)
      let report = try Self.run(&replay, broker)
      #expect(report.isComplete)
      #expect(report.published == (run == 0 ? 1200 : 0))
      for file in try Files.list(archive.folder.file("replays")) {
        try Files.remove(archive.folder.file("replays/\(file)"))
      }
    }
    #expect(try Self.received(broker, count: 1200).count == 1200)
    broker.stop()
    broker.join()
  }

  @Test func `forgotten people and later events are not of it, damage is told`() throws {
    let archive = try Self.archive()
    let folder = try TemporaryFolder()
    let broker = try Self.broker(folder)
    let part = try #require(try Catalogue(reading: archive.path).parts().dropFirst().first)
    var replay = try Self.replay(archive)
    try archive.add([SampleArchive.event("Later", second: 1)], epoch: 1_700_000_000, hour: 5)
    var file = try Files.read("\(archive.path)/\(part.path)")
    file[file.count / 2] ^= 1
    try Files.write(file, to: "\(archive.path)/\(part.path)")
    let report = try Self.run(&replay, broker)
    #expect(report.query.damages.map(\.file) == [part.path])
    #expect(!report.isComplete)
    #expect(report.published > 800 && report.published < 1200)
    let sent = try Self.received(broker, count: Int(report.published))
    #expect(!sent.contains { $0.contains("Later") })
    broker.stop()
    broker.join()
  }
}

/// Says when a run has published enough.
private final class LimitedRun: Sendable {
  private let most: UInt64
  private let published = Mutex<UInt64>(0)

  init(_ most: UInt64) { self.most = most }

  var isReached: Bool { published.withLock { $0 >= most } }
  func update(_ count: UInt64) { published.withLock { $0 = count } }
}

extension String {
  /// A line without what the archive has added to it.
  fileprivate var withoutPlace: String {
    var line = self
    for field in ["\"receivedAt\":", "\"offset\":", "\"epoch\":"] {
      guard let start = line.range(of: "," + field)?.lowerBound else { continue }
      let rest = line[line.index(after: start)...]
      let end = rest.firstIndex { $0 == "," || $0 == "}" } ?? rest.endIndex
      line.removeSubrange(start..<end)
    }
    return line
  }
}
