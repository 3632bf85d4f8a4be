import BusBroker
import BusProtocol
import Database
import Glibc
import Primitives
import Synchronization
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
      ("UPDATE batch SET sequence = 4 WHERE id = 2", [4, 10]),
      ("UPDATE batch SET sequence = 0 WHERE id = 1", [5, 10]),
      ("UPDATE batch SET sequence = -1 WHERE id = 2", [4, 10]),
      ("UPDATE batch SET sequence = 9223372036854775807 WHERE id = 1", [5, 10]),
      ("UPDATE batch SET message = 'x' WHERE id = 3", [4, 5]),
      ("UPDATE batch SET message = zeroblob(100), events = -1 WHERE id = 2", [4, 10]),
    ] as [(String, [UInt64])])
  func `a row that cannot be read is set aside and holds up none behind it`(
    _ change: String, _ numbers: [UInt64]
  ) throws {
    let folder = try TemporaryFolder()
    var spool = try spool(folder, change)
    let found = spool.load(limit: 10, after: 9).map(\.sequence)
    let isDrained = spool.isDrained
    #expect(found == numbers && isDrained)
    let told = spool.takeDamage()?.report.text
    let again = spool.takeDamage()
    #expect((told != nil) == (numbers.count == 2) && again == nil)
    if let told {
      #expect(told.contains("in 1 row of the spool \(folder.file("spool.sqlite")) cannot be read"))
      let database = try Database(folder.file("spool.sqlite"), migrations: [""])
      let aside = try database.prepare("SELECT count(*), max(length(why) > 10) FROM aside")
      #expect(try aside.step() && aside.integer(0) == 1 && aside.integer(1) == 1)
    }
  }

  @Test func `a spool that cannot be read any more says so once`() throws {
    let folder = try TemporaryFolder()
    var spool = try spool(folder, "")
    try Database(folder.file("spool.sqlite"), migrations: [""]).execute(
      "ALTER TABLE batch RENAME TO gone")
    for isFirst in [true, false] {
      #expect(spool.load(limit: 10, after: 9).isEmpty)
      let told = spool.takeDamage()?.report.text
      #expect(isFirst ? told?.contains("with 3 events, cannot be read") == true : told == nil)
    }
  }

  /// What a program is told.
  private final class Told: Sendable {
    private let reports = Mutex<[OperatorReport]>([])
    var all: [OperatorReport] { reports.withLock { $0 } }
    func add(_ report: OperatorReport) { reports.withLock { $0.append(report) } }
  }

  @Test func `what is behind a damaged row arrives, and what was in it is told and counted`() throws
  {
    let folder = try TemporaryFolder()
    let path = "ipc://" + folder.file("bus")
    var configuration = ProducerConfiguration(address: path, client: "test")
    configuration.overflow = .spill(path: folder.file("spool.sqlite"))
    configuration.batchEvents = 10
    let first = try Producer(configuration)
    for number in 0..<100 { try first.publish("A", number) }
    #expect(first.closeBlocking(deadline: .zero).spooled == 100)
    do {
      let database = try Database(folder.file("spool.sqlite"), migrations: [""])
      try database.execute(
        "UPDATE batch SET message = x'00' WHERE id = (SELECT max(id) - 2 FROM batch)")
      // A count that is too small is no reason to keep it back.
      try database.execute("UPDATE batch SET events = 1 WHERE id = (SELECT max(id) FROM batch)")
    }
    let broker = try startBroker(folder, bus: path)
    let told = Told()
    configuration.onReport = { told.add($0) }
    let second = try Producer(configuration)
    let result = second.flushBlocking(deadline: .seconds(20))
    #expect(result.damaged == 10 && result.unacknowledged == 0, "\(result)")
    #expect(told.all.filter { $0.key == "bus.spool" }.count == 1)
    #expect(waitUntil { second.counters.acknowledged == 90 && second.counters.inSpool == 0 })
    _ = second.closeBlocking(deadline: .seconds(10))
    let subscriber = try Subscriber(.init(address: path, client: "test"))
    let expected = (Array(0..<70) + Array(80..<100)).map { payload("A", $0) }
    #expect(try subscriber.take(90).map(\.payload) == expected)
    broker.stop()
    broker.join()
  }

  @Test func `counts that damage made too large do not overflow their sum`() throws {
    let folder = try TemporaryFolder()
    let spool = try spool(folder, "UPDATE batch SET events = 9223372036854775807")
    let events = spool.events
    #expect(events == 3 * 65_535)
  }

  @Test func `a spool that could not be written takes the next batch`() throws {
    let folder = try TemporaryFolder()
    var spool = try spool(folder, "")
    let database = try Database(folder.file("spool.sqlite"), migrations: [""])
    try database.execute(
      "CREATE TRIGGER f BEFORE INSERT ON batch BEGIN SELECT RAISE(ABORT, 'full'); END")
    var kept: [Bool] = []
    for number in 0..<2 {
      var builder = BatchBuilder()
      builder.payloads = payload("A", number)
      builder.append(name: Array("A".utf8))
      kept.append(spool.append(OutgoingBatch(taking: &builder, cost: 1, largestEvent: 1)))
      if number == 0 { try database.execute("DROP TRIGGER f") }
    }
    #expect(kept == [false, true])
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
