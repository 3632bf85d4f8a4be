import BusBroker
import BusProtocol
import Database
import Glibc
import TestSupport
import Testing

@testable import BusClient

@Suite(.timeLimit(.minutes(5)))
struct SpoolTests {
  @Test func `what could not be sent is kept and sent first by the next run`() throws {
    let folder = try TemporaryFolder()
    let path = "ipc://" + folder.file("bus")
    var configuration = ProducerConfiguration(address: path, client: "test")
    configuration.overflow = .spill(path: folder.file("spool.sqlite"))
    configuration.maximumBytes = 4000
    configuration.batchEvents = 10
    let first = try Producer(configuration)
    for number in 0..<1000 { try first.publish("A", number) }
    let result = first.closeBlocking(deadline: .milliseconds(50))
    #expect((result.acknowledged, result.unacknowledged, result.spooled) == (0, 1000, 1000))

    let broker = try startBroker(folder, bus: path)
    let second = try Producer(configuration)
    try second.publish("A", 1000)
    let sent = second.closeBlocking(deadline: .seconds(10))
    #expect((sent.acknowledged, sent.spooled) == (1001, 0))
    let subscriber = try Subscriber(.init(address: path, client: "test"))
    #expect(try subscriber.take(1001).map(\.payload) == (0...1000).map { payload("A", $0) })
    broker.stop()
    broker.join()
  }

  @Test func `events that went to the spool leave their place in memory to others`() throws {
    let folder = try TemporaryFolder()
    var configuration = ProducerConfiguration(
      address: "ipc://" + folder.file("bus"), client: "test")
    configuration.overflow = .spill(path: folder.file("spool.sqlite"))
    configuration.maximumEvents = 40
    configuration.batchEvents = 10
    let producer = try Producer(configuration)
    for number in 0..<1000 { try producer.publish("A", number) }
    let result = producer.closeBlocking(deadline: .milliseconds(50))
    #expect((result.unacknowledged, result.spooled) == (1000, 1000))
  }

  @Test func `a spool of a newer program is refused, named and kept`() throws {
    let folder = try TemporaryFolder()
    let path = folder.file("spool.sqlite")
    do {
      let database = try Database(path, migrations: [])
      try database.execute("CREATE TABLE events_of_tomorrow (v); PRAGMA user_version = 2")
    }
    var configuration = ProducerConfiguration(address: "ipc:///tmp/none", client: "test")
    configuration.overflow = .spill(path: path)
    let error = #expect(throws: BusClientError.self) { try Producer(configuration) }
    let text = error?.description ?? ""
    #expect(text.contains("\(path) has schema 2, this program knows up to 1"), "\(text)")
    #expect(text.contains("use the newer program"), "\(text)")
    let aside = try #require(text.split(separator: " ").first { $0.contains(".aside-") })
    // The newer program finds it there, whole.
    let kept = try Database(String(aside.prefix { $0 != ";" }), migrations: ["", ""])
    try kept.execute("INSERT INTO events_of_tomorrow VALUES (1)")
  }

  @Test func `a spool that is no database is renamed and told of`() throws {
    let folder = try TemporaryFolder()
    let path = folder.file("spool.sqlite")
    let file = unsafe fopen(path, "w")
    unsafe fputs(String(repeating: "not a database ", count: 100), file)
    unsafe fclose(file)
    var configuration = ProducerConfiguration(address: "ipc:///tmp/none", client: "test")
    configuration.overflow = .spill(path: path)
    #expect(throws: BusClientError.self) { try Producer(configuration) }
    let second = try Producer(configuration)
    #expect(second.counters.published == 0)
  }

  /// A spool of three batches of one event, the first two of which were sent as 4 and 5.
  private func spool(_ folder: TemporaryFolder, _ change: String) throws -> Spool {
    let path = folder.file("spool.sqlite")
    do {
      var spool = try Spool.open(path, maximumBytes: 1 << 20)
      for number in 0..<3 {
        var builder = BatchBuilder()
        builder.payloads = payload("A", number)
        builder.append(name: Array("A".utf8))
        let isKept = spool.append(OutgoingBatch(taking: &builder, cost: 1, largestEvent: 1))
        #expect(isKept)
      }
    }
    let database = try Database(path, migrations: [""])
    try database.execute("UPDATE batch SET sequence = id + 3 WHERE id < 3; \(change)")
    return try Spool.open(path, maximumBytes: 1 << 20)
  }

  @Test(
    arguments: [
      ("", [4, 5, 10]), ("UPDATE batch SET sequence = 9 WHERE id = 2", [4, 9, 10]),
      ("UPDATE batch SET sequence = 4 WHERE id = 2", [4]),
      ("UPDATE batch SET sequence = 0 WHERE id = 1", []),
      ("UPDATE batch SET sequence = -1 WHERE id = 2", [4]),
      ("UPDATE batch SET sequence = 9223372036854775807 WHERE id = 1", []),
    ] as [(String, [UInt64])])
  func `a batch whose number does not follow ends what goes out`(
    _ change: String, _ numbers: [UInt64]
  ) throws {
    let folder = try TemporaryFolder()
    var spool = try spool(folder, change)
    let found = spool.load(limit: 10, after: 9).map(\.sequence)
    let isDrained = spool.isDrained
    #expect(found == numbers && isDrained == (numbers.count == 3))
  }

  @Test func `counts that damage made too large do not overflow their sum`() throws {
    let folder = try TemporaryFolder()
    let spool = try spool(folder, "UPDATE batch SET events = 9223372036854775807")
    let events = spool.events
    #expect(events == 3 * 65_535)
  }

  @Test func `nothing is kept before a row that has none before it`() throws {
    let folder = try TemporaryFolder()
    var spool = try spool(folder, "UPDATE batch SET id = -9223372036854775808 WHERE id = 1")
    var builder = BatchBuilder()
    builder.payloads = payload("A", 9)
    builder.append(name: Array("A".utf8))
    let batch = OutgoingBatch(taking: &builder, cost: 1, largestEvent: 1)
    let kept = spool.keep(before: [batch], after: [])
    #expect(kept == 0)
  }
}
