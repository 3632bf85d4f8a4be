internal import CPlatform
internal import Primitives
internal import TestSupport

#if canImport(Glibc)
  internal import Glibc
#else
  internal import Darwin
#endif

/// Events over HTTP to the disk: broker and collector are the built program, 64 kept connections send
/// batches of 100 events of 200 bytes. First as fast as answers come, then at a fixed rate, latency
/// counted from when each request should have been sent. Prints one line of JSON each.
///
///     benchmarks collector PROGRAM [EVENTS-A-SECOND]...     default: 50000
struct CollectorBenchmark {
  private static let connections = 64
  private static let batch = 100
  private let folder: TemporaryFolder
  private let broker: ChildProcess
  private let collector: ChildProcess
  private let port: UInt16

  static func run(_ arguments: [String]) throws {
    guard let program = arguments.first else {
      return report("benchmarks collector PROGRAM [EVENTS-A-SECOND]...")
    }
    let rates = arguments.count > 1 ? arguments.dropFirst().compactMap { Int($0) } : [50_000]
    let benchmark = try CollectorBenchmark(program)
    report(try benchmark.measure("collector", rate: nil, seconds: 4))
    for rate in rates { report(try benchmark.measure("collector@\(rate)", rate: rate, seconds: 4)) }
    for process in [benchmark.collector, benchmark.broker] {
      process.signal(15)
      _ = process.wait()
    }
  }

  private init(_ program: String) throws {
    folder = try TemporaryFolder()
    broker = try ChildProcess(program, ["broker", "--data", folder.path, "--port-base", "0"])
    let bus = try Self.address("bus", of: broker)
    collector = try ChildProcess(
      program,
      ["collector", "--bus", bus, "--listen", "127.0.0.1:0", "--metrics", "127.0.0.1:0"])
    let listen = try Self.address("listen", of: collector)
    guard let port = listen.split(separator: ":").last.flatMap({ UInt16($0) }) else {
      throw BenchmarkError(text: "no port in \(listen)")
    }
    self.port = port
  }

  private static func address(_ key: String, of process: ChildProcess) throws -> String {
    guard let line = process.output.waitForLine(.seconds(10), where: { $0.hasPrefix("ready ") }),
      let word = line.split(separator: " ").first(where: { $0.hasPrefix(key + "=") })
    else { throw BenchmarkError(text: "no ready line: \(process.errorOutput.text)") }
    return String(word.dropFirst(key.count + 1))
  }

  /// 100 events of 200 bytes each.
  private static let request: [UInt8] = {
    let events = (0..<batch).map { number -> String in
      let event =
        #"{"type":"track","event":"Benchmark Event \#(number % 16)","userId":"user-0042","#
        + #""messageId":"0190163d-8694-739b-aea5-966c26f8a\#(100 + number)","#
        + #""timestamp":"2026-11-30T10:00:00.123Z","properties":{"plan":"pro","n":\#(number),"p":""#
      return event + String(repeating: "x", count: max(0, 200 - event.utf8.count - 3)) + "\"}}"
    }
    let body = "{\"batch\":[\(events.joined(separator: ","))]}"
    return Array(
      ("POST /v1/batch HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
        + "Content-Length: \(body.utf8.count)\r\n\r\n\(body)").utf8)
  }()

  /// - Parameter rate: events a second; nil: as many as are answered.
  private func measure(_ name: String, rate: Int?, seconds: Double) throws -> String {
    let connections = try (0..<Self.connections).map { _ in
      try LoadConnection(port: port, request: Self.request)
    }
    var latencies: [Int64] = []
    var buffer = [UInt8](repeating: 0, count: 64 << 10)
    let before = (
      ProcessFiles.cpuSeconds(of: collector.id), ProcessFiles.cpuSeconds(of: broker.id)
    )
    let start = SystemClock.monotonic()
    let end = start + Int64(seconds * 1e9)
    let interval = rate.map { Int64(Double(Self.batch) / Double($0) * 1e9) }
    var due = start
    while true {
      let now = SystemClock.monotonic()
      let isOver = now >= end
      if isOver, connections.allSatisfy(\.isIdle) { break }
      guard now < end + 10_000_000_000 else { throw BenchmarkError(text: "answers are missing") }
      if !isOver {
        for connection in connections where connection.isIdle && due <= now {
          try connection.begin(due: interval == nil ? now : due)
          if let interval { due += interval }
        }
      }
      var items = connections.map { pollfd(fd: $0.descriptor, events: $0.events, revents: 0) }
      let wait = interval == nil || isOver ? 100 : max(0, (due - now) / 1_000_000)
      _ = unsafe poll(&items, nfds_t(items.count), Int32(min(100, wait)))
      for (item, connection) in zip(items, connections) where item.revents != 0 {
        let started = connection.dueAt
        guard try connection.advance(&buffer), let started else { continue }
        guard connection.status == 200 else {
          throw BenchmarkError(text: "a request was answered with \(connection.status)")
        }
        latencies.append(SystemClock.monotonic() - started)
      }
    }
    let spent = Double(SystemClock.monotonic() - start) / 1e9
    let cpu = (
      ProcessFiles.cpuSeconds(of: collector.id) - before.0,
      ProcessFiles.cpuSeconds(of: broker.id) - before.1
    )
    return summary(name, &latencies, spent, cpu)
  }

  private func summary(
    _ name: String, _ latencies: inout [Int64], _ seconds: Double,
    _ cpu: (collector: Double, broker: Double)
  ) -> String {
    latencies.sort()
    func percentile(_ part: Double) -> Double {
      guard !latencies.isEmpty else { return 0 }
      let index = min(latencies.count - 1, Int(part * Double(latencies.count)))
      return (Double(latencies[index]) / 1e4).rounded() / 100
    }
    let events = latencies.count * Self.batch
    let perEvent = { (cpu: Double) in (cpu / Double(max(1, events)) * 1e8).rounded() / 100 }
    return
      "{\"case\":\"\(name)\",\"events\":\(events),\"evps\":\(Int(Double(events) / seconds)),"
      + "\"p50_ms\":\(percentile(0.5)),\"p99_ms\":\(percentile(0.99)),"
      + "\"max_ms\":\(percentile(1)),\"cpu_us_collector\":\(perEvent(cpu.collector)),"
      + "\"cpu_us_broker\":\(perEvent(cpu.broker))}"
  }
}
