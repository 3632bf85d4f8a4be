internal import BusClient
internal import BusProtocol
internal import Primitives
internal import TestSupport

/// How cost grows with the journal. One broker fills it; at each size it is stopped and killed, and the
/// pages of its files are dropped before each start and each read, as far as the system lets go of them.
struct JournalGrowth {
  /// GiB.
  private static let sizes = [1, 2, 5, 10]
  private static let bytes = 1_000
  /// No further size is begun after this time.
  private static let limitNanoseconds: Int64 = 240_000_000_000
  /// Keeps everything, however old.
  private static let options = ["--retention-bytes", "1TiB"]

  let program: String
  let folder: String

  func run() throws {
    let free = ProcessFiles.freeBytes(folder) >> 30
    let sizes = Self.sizes.filter { $0 + 3 < free }
    guard !sizes.isEmpty else {
      return report(
        "\njournal: \(folder) has \(free) GiB free; at least 5 are needed. Not measured.")
    }
    if sizes.count < Self.sizes.count {
      report("\njournal: up to \(sizes.last ?? 0) GiB only: \(folder) has \(free) GiB free.")
    }
    let data = try TemporaryData(folder)
    var table = GrowthTable(
      "journal: events of \(Self.bytes) bytes, sixteen names; times in ms from a cold page cache",
      [
        "GiB", "publish MB/s", "replay MB/s", "restart", "after kill -9", "tail from head - 100",
        "tail --since 1s", "rare name, --since earliest",
      ])
    let start = SystemClock.monotonic()
    for size in sizes {
      guard SystemClock.monotonic() - start < Self.limitNanoseconds else {
        report("\njournal: this disk is slow; left out from \(size) GiB on.")
        break
      }
      let values = try point(data.path, size)
      table.add(gibibytes(ProcessFiles.bytes(in: data.path)), values)
    }
    report(table.text)
    report(
      "tails: ms until the first event; of one name of sixteen, and of a name the last event alone has"
    )
  }

  private func point(_ data: String, _ size: Int) throws -> [Double?] {
    var broker = try BenchmarkBroker(program, data: data, Self.options)
    let publishing = try fill(broker, data, to: size << 30)
    let rare = "Rare \(size)"
    let lately = SystemClock.realtime() - 1_000_000_000
    let producer = try GrowthBenchmark.producer(broker.address)
    try producer.publish(payload: BenchmarkEvents.payload(named: rare), name: Array(rare.utf8))
    let result = producer.closeBlocking()
    guard result.isComplete, result.refused == 0 else { throw BenchmarkError(text: "\(result)") }
    let replay = try replay(broker)
    broker.stop()
    ProcessFiles.dropPages(of: data)
    broker = try BenchmarkBroker(program, data: data, Self.options)
    let restart = broker.startMilliseconds
    broker.stop(signal: 9)
    ProcessFiles.dropPages(of: data)
    broker = try BenchmarkBroker(program, data: data, Self.options)
    let afterKill = broker.startMilliseconds
    let common = BenchmarkEvents.name(0)
    var administration = try BusAdministration(address: broker.address)
    let head = try administration.status().number("durable")
    let atHead = try firstEvent(broker, data, common, .offset(head - 100))
    let byTime = try firstEvent(broker, data, common, .time(lately))
    let fromStart = try firstEvent(broker, data, rare, .earliest)
    broker.stop()
    return [publishing, replay, restart, afterKill, atHead, byTime, fromStart]
  }

  /// Megabytes a second of the last seconds.
  private func fill(_ broker: BenchmarkBroker, _ data: String, to bytes: Int) throws -> Double {
    let events = BenchmarkEvents.payloads(names: 16, size: Self.bytes)
    let producer = try GrowthBenchmark.producer(broker.address)
    var rate = 0.0
    var last = false
    while !last {
      last = ProcessFiles.bytes(in: data) + 700_000_000 > bytes
      let start = SystemClock.monotonic()
      var count = 0
      // Half a second, but the measured stretch two.
      let end = start + (last ? 2_000_000_000 : 500_000_000)
      count = try GrowthBenchmark.publish(producer, events, until: end)
      if last {
        _ = producer.flushBlocking(deadline: .seconds(30))
        rate = Double(count * Self.bytes) * 1e3 / Double(SystemClock.monotonic() - start)
      }
    }
    guard producer.closeBlocking().isComplete else { throw BenchmarkError(text: "not stored") }
    return rate
  }

  /// Megabytes a second of one that reads from the beginning, for so many seconds.
  private func replay(_ broker: BenchmarkBroker, seconds: Double = 3) throws -> Double {
    var configuration = SubscriberConfiguration(address: broker.address, client: "benchmark")
    configuration.start = .earliest
    let subscriber = try Subscriber(configuration)
    defer { subscriber.close() }
    let start = SystemClock.monotonic()
    let end = start + Int64(seconds * 1e9)
    var bytes = 0
    var last = start
    while last < end {
      // Half a second without an event is the journal's end.
      guard let batch = try subscriber.nextBatch(deadline: .milliseconds(500)) else { break }
      batch.forEach { _, _, payload in bytes += payload.byteCount }
      last = SystemClock.monotonic()
    }
    return Double(bytes) * 1e3 / Double(max(1, last - start))
  }

  /// Milliseconds from a subscriber's creation to its first event.
  private func firstEvent(
    _ broker: BenchmarkBroker, _ data: String, _ name: String, _ start: StartPosition
  ) throws -> Double {
    ProcessFiles.dropPages(of: data)
    var configuration = SubscriberConfiguration(address: broker.address, client: "benchmark")
    configuration.start = start
    configuration.filters = [NameFilter(.exact, name)]
    let begin = SystemClock.monotonic()
    let subscriber = try Subscriber(configuration)
    defer { subscriber.close() }
    // A batch without events only says how far the broker has looked.
    var batch: EventBatch?
    repeat {
      batch = try subscriber.nextBatch(deadline: .seconds(60))
      if batch == nil { throw BenchmarkError(text: "no event came within 60 s") }
    } while batch?.count == 0
    return Double(SystemClock.monotonic() - begin) / 1e6
  }

  private func gibibytes(_ bytes: Int) -> String {
    "\((Double(bytes) / Double(1 << 30) * 10).rounded() / 10)"
  }
}
