internal import BusClient
internal import BusProtocol
internal import EventModel
internal import Primitives
internal import TestSupport

/// The bus end to end, over real processes and sockets: the broker is the built program, producer and
/// subscribers are threads of this one. Prints one line of JSON a case; `Deploy/bench` sets the ratios.
///
///     benchmarks bus PROGRAM [CASE]...      cases: typed encoded encoded500 fan3 replay live, encoded1,
///                                           and each as curve-CASE, with keys and encryption, or
///                                           as os-CASE, with --durability os
struct BusBenchmark {
  static let cases = ["typed", "encoded", "encoded500", "fan3", "replay", "live"]
  /// Long enough that start and end do not count, short enough for a noisy machine.
  private let seconds = 2.0
  private let folder: TemporaryFolder
  private let broker: BenchmarkBroker

  static func run(_ arguments: [String]) throws {
    guard let program = arguments.first else {
      return report("benchmarks bus PROGRAM [CASE]...: PROGRAM is the built eventbus")
    }
    let wanted = arguments.count > 1 ? Array(arguments.dropFirst()) : cases
    for name in wanted {
      report(try BusBenchmark(program, name).run(name))
    }
  }

  private init(_ program: String, _ name: String) throws {
    folder = try TemporaryFolder()
    let asksForKeys = name.hasPrefix("curve-")
    BusSecurity.ofProcess = asksForKeys ? try Self.makeKeys(program, folder) : nil
    var options = asksForKeys ? ["--curve"] : []
    if name.hasPrefix("os-") { options += ["--durability", "os"] }
    broker = try BenchmarkBroker(program, data: folder.path, options)
  }

  /// The keys of a broker that is not started yet, and of this program.
  private static func makeKeys(
    _ program: String, _ folder: TemporaryFolder
  ) throws -> BusSecurity {
    let key = folder.file("client.key")
    for arguments in [
      ["generate", key],
      ["authorize", key, "--publish", "*", "--subscribe", "*", "--data", folder.path],
    ] {
      let run = try ChildProcess.run(program, ["keys"] + arguments)
      guard run.status == .exited(0) else {
        throw BenchmarkError(text: String(decoding: run.errorOutput, as: UTF8.self))
      }
    }
    return try BusSecurity(keyFile: key, serverKey: folder.file("broker.key.pub"))
  }

  private func run(_ name: String) throws -> String {
    let result: Measured
    switch String(name.split(separator: "-").last ?? "") {
    case "typed": result = try flow(batch: 500, subscribers: 1, typed: true)
    case "encoded1": result = try flow(batch: 1, subscribers: 1, typed: false)
    case "encoded": result = try flow(batch: 100, subscribers: 1, typed: false)
    case "encoded500": result = try flow(batch: 500, subscribers: 1, typed: false)
    case "fan3": result = try flow(batch: 100, subscribers: 3, typed: false)
    case "replay": result = try replay()
    case "live": result = try live()
    default: throw BenchmarkError(text: "no case is called \(name)")
    }
    broker.stop()
    return result.json(name)
  }

  /// Events from one producer to each of the subscribers, from the first publish to the last receipt.
  private func flow(batch: Int, subscribers: Int, typed: Bool) throws -> Measured {
    let producer = try makeProducer(batch)
    let readers = try (0..<subscribers).map { _ in try Reader(broker.address, typed: typed) }
    let cpu = BenchmarkUsage(broker.process)
    let start = SystemClock.monotonic()
    let count = try publish(producer, typed: typed, until: start + Int64(seconds * 1e9))
    for reader in readers { reader.finish(at: count) }
    let received = readers.map { $0.join() }
    let result = producer.closeBlocking()
    let seconds = Double(SystemClock.monotonic() - start) / 1e9
    guard received.allSatisfy({ $0 == count }), result.isComplete else {
      throw BenchmarkError(text: "\(count) published, \(received) received, \(result)")
    }
    return Measured(events: count, seconds: seconds, cpu: cpu.since())
  }

  private func replay() throws -> Measured {
    let producer = try makeProducer(100)
    let count = try publish(producer, typed: false, until: SystemClock.monotonic() + 2_000_000_000)
    guard producer.closeBlocking().isComplete else { throw BenchmarkError(text: "not stored") }
    let cpu = BenchmarkUsage(broker.process)
    let start = SystemClock.monotonic()
    let reader = try Reader(broker.address, typed: false)
    reader.finish(at: count)
    guard reader.join() == count else { throw BenchmarkError(text: "events are missing") }
    let seconds = Double(SystemClock.monotonic() - start) / 1e9
    return Measured(events: count, seconds: seconds, cpu: cpu.since())
  }

  /// One subscriber of the live feed; what it did not get is told.
  private func live() throws -> Measured {
    let producer = try makeProducer(100)
    let reader = try LiveReader(broker.address)
    let cpu = BenchmarkUsage(broker.process)
    let start = SystemClock.monotonic()
    let count = try publish(
      producer, typed: false, until: start + Int64(seconds * 1e9), names: 1)
    guard producer.closeBlocking().isComplete else { throw BenchmarkError(text: "not stored") }
    let (received, lost, end) = reader.join(expecting: count)
    var measured = Measured(
      events: received, seconds: Double(end - start) / 1e9, cpu: cpu.since())
    measured.lost = lost
    return measured
  }

  private func makeProducer(_ batch: Int) throws -> Producer {
    var configuration = ProducerConfiguration(address: broker.address, client: "benchmark")
    configuration.batchEvents = batch
    // One by one, as many events are under way as in the programs that are compared.
    if batch == 1 { configuration.maximumInFlight = 4096 }
    let producer = try Producer(configuration)
    guard try producer.waitUntilConnected(deadline: .seconds(10)) else {
      throw BenchmarkError(text: "no answer from \(broker.address)")
    }
    return producer
  }

  private func publish(
    _ producer: Producer, typed: Bool, until end: Int64, names: Int = 16
  ) throws -> Int {
    let payloads = BenchmarkEvents.payloads(names: names)
    var count = 0
    while SystemClock.monotonic() < end {
      for _ in 0..<100 {
        if typed {
          try producer.publish(BenchmarkEvents.typed(count))
        } else {
          let event = payloads[count % payloads.count]
          try producer.publish(payload: event.payload, name: event.name)
        }
        count += 1
      }
    }
    return count
  }
}

private struct Measured {
  var events: Int
  var seconds: Double
  var cpu: (own: Double, broker: Double)
  var lost = 0

  func json(_ name: String) -> String {
    let rate = Int(Double(events) / seconds)
    let perEvent = (cpu.own + cpu.broker) / Double(max(1, events)) * 1e6
    return
      "{\"case\":\"\(name)\",\"events\":\(events),\"sec\":\(rounded(seconds)),\"evps\":\(rate),"
      + "\"cpu_us\":\(rounded(perEvent)),\"cpu_broker\":\(rounded(cpu.broker)),"
      + "\"cpu_clients\":\(rounded(cpu.own)),\"lost\":\(lost)}"
  }

  private func rounded(_ value: Double) -> Double { (value * 1000).rounded() / 1000 }
}
