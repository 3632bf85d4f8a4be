internal import BusClient
internal import BusProtocol
internal import Primitives
internal import TestSupport

/// How cost grows with event names, subscribers, the size of an event, and the journal: a table each, with
/// the ratio to its first row. Each point takes a few seconds and has a broker of its own.
///
///     benchmarks growth PROGRAM FOLDER [CASE]...     cases: names subscribers size journal; FOLDER is
///                                                    where data goes, on the disk that is measured;
///                                                    it is made where it is missing
struct GrowthBenchmark {
  static let cases = ["names", "subscribers", "size", "journal"]
  private static let seconds = 2.0

  private let program: String
  private let folder: String

  static func run(_ arguments: [String]) throws {
    guard arguments.count >= 2 else {
      return report("benchmarks growth PROGRAM FOLDER [CASE]...")
    }
    try ProcessFiles.makeFolder(arguments[1])
    let benchmark = GrowthBenchmark(program: arguments[0], folder: arguments[1])
    let wanted = arguments.count > 2 ? Array(arguments.dropFirst(2)) : cases
    for name in wanted {
      switch name {
      case "names": try benchmark.names()
      case "subscribers": try benchmark.subscribers()
      case "size": try benchmark.sizes()
      case "journal":
        try JournalGrowth(program: arguments[0], folder: arguments[1]).run()
      default: throw BenchmarkError(text: "no case is called \(name)")
      }
    }
  }

  private func names() throws {
    var table = GrowthTable(
      "event names: 200 bytes, one subscriber of all",
      ["names", "events/s", "µs CPU an event", "replay events/s", "restart ms", "broker MB"])
    for count in [10, 100, 1_000, 10_000] {
      let events = BenchmarkEvents.payloads(names: count)
      let data = try TemporaryData(folder)
      let broker = try BenchmarkBroker(program, data: data.path)
      let live = try flow(broker, events, readers: [nil])
      let replay = try read(broker, live.events)
      let memory = ProcessFiles.residentBytes(of: broker.process.id)
      broker.stop()
      let again = try BenchmarkBroker(program, data: data.path)
      again.stop()
      table.add(
        "\(count)",
        [
          live.rate, live.cpuPerDelivery, replay, again.startMilliseconds, Double(memory) / 1e6,
        ])
    }
    report(table.text)
  }

  /// Each reads everything; then each one name of fifty, of which the first row's takes one as well.
  private func subscribers() throws {
    var all = GrowthTable(
      "subscribers: each with a cursor, each of all events; 200 bytes",
      ["subscribers", "events/s", "deliveries/s", "µs CPU a delivery", "broker MB"])
    var each = GrowthTable(
      "subscribers: each with a cursor, each of one name of fifty; 200 bytes",
      ["subscribers", "events/s", "deliveries/s", "µs CPU an event", "broker MB"])
    let events = BenchmarkEvents.payloads(names: 50)
    for count in [1, 10, 50] {
      for isEach in [false, true] {
        let data = try TemporaryData(folder)
        let broker = try BenchmarkBroker(program, data: data.path)
        let readers = (0..<count).map { isEach ? events[$0].name : nil }
        let flow = try flow(broker, events, readers: readers)
        let memory = Double(ProcessFiles.residentBytes(of: broker.process.id)) / 1e6
        broker.stop()
        if isEach {
          each.add("\(count)", [flow.rate, flow.deliveryRate, flow.cpuPerEvent, memory])
        } else {
          all.add("\(count)", [flow.rate, flow.deliveryRate, flow.cpuPerDelivery, memory])
        }
      }
    }
    report(all.text)
    report(each.text)
  }

  private func sizes() throws {
    var table = GrowthTable(
      "bytes of an event: one subscriber of all",
      ["bytes", "events/s", "MB/s", "µs CPU an event", "replay MB/s", "broker MB"])
    for size in [100, 1_000, 10_000, 100_000] {
      let events = BenchmarkEvents.payloads(names: 16, size: size)
      let data = try TemporaryData(folder)
      let broker = try BenchmarkBroker(program, data: data.path)
      let live = try flow(broker, events, readers: [nil])
      let replay = try read(broker, live.events)
      let memory = ProcessFiles.residentBytes(of: broker.process.id)
      broker.stop()
      let megabytes = Double(size) / 1e6
      table.add(
        "\(size)",
        [
          live.rate, live.rate * megabytes, live.cpuPerEvent, replay * megabytes,
          Double(memory) / 1e6,
        ])
    }
    report(table.text)
  }

  /// Publishes while all read.
  /// - Parameter readers: the one name that each wants; nil for all events.
  private func flow(
    _ broker: BenchmarkBroker, _ events: [(name: [UInt8], payload: [UInt8])], readers: [[UInt8]?]
  ) throws -> GrowthFlow {
    let producer = try Self.producer(broker.address)
    let subscribers = try readers.enumerated().map { index, only in
      try Reader(broker.address, typed: false, only: only, name: "reader-\(index)")
    }
    let usage = BenchmarkUsage(broker.process)
    let start = SystemClock.monotonic()
    let count = try Self.publish(producer, events, until: start + Int64(Self.seconds * 1e9))
    // Names take turns, and the last turn is whole.
    let expected = readers.map { $0 == nil ? count : count / events.count }
    for (subscriber, count) in zip(subscribers, expected) { subscriber.finish(at: count) }
    let received = subscribers.map { $0.join() }
    let result = producer.closeBlocking()
    guard received == expected, result.isComplete else {
      throw BenchmarkError(text: "\(expected) expected, \(received) received, \(result)")
    }
    let cpu = usage.since()
    return GrowthFlow(
      events: count, deliveries: received.reduce(0, +),
      seconds: Double(SystemClock.monotonic() - start) / 1e9, cpu: cpu.own + cpu.broker)
  }

  /// Events a second of one that reads all from the beginning.
  private func read(_ broker: BenchmarkBroker, _ count: Int) throws -> Double {
    let start = SystemClock.monotonic()
    let reader = try Reader(broker.address, typed: false)
    reader.finish(at: count)
    guard reader.join() == count else { throw BenchmarkError(text: "events are missing") }
    return Double(count) * 1e9 / Double(SystemClock.monotonic() - start)
  }

  static func producer(_ address: String) throws -> Producer {
    let producer = try Producer(ProducerConfiguration(address: address, client: "benchmark"))
    guard try producer.waitUntilConnected(deadline: .seconds(10)) else {
      throw BenchmarkError(text: "no answer from \(address)")
    }
    return producer
  }

  /// Whole turns through `events`; returns how many went out.
  static func publish(
    _ producer: Producer, _ events: [(name: [UInt8], payload: [UInt8])], until end: Int64
  ) throws -> Int {
    var count = 0
    repeat {
      for event in events { try producer.publish(payload: event.payload, name: event.name) }
      count += events.count
    } while SystemClock.monotonic() < end
    return count
  }
}

/// What one point showed.
struct GrowthFlow {
  var events: Int
  var deliveries: Int
  var seconds: Double
  /// Seconds, of the broker and both ends.
  var cpu: Double

  var rate: Double { Double(events) / seconds }
  var deliveryRate: Double { Double(deliveries) / seconds }
  var cpuPerEvent: Double { cpu * 1e6 / Double(events) }
  var cpuPerDelivery: Double { cpu * 1e6 / Double(max(1, deliveries)) }
}
