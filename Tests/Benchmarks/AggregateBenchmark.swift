internal import Aggregation
internal import BusProtocol
internal import CPlatform
internal import Primitives
internal import TestSupport

/// Events of 200 bytes into reports: reading, doubles, users, counting and storing together.
///
/// Measured in CPU time of the process, which has one thread: a busy machine changes it little.
enum AggregateBenchmark {
  static func run() throws {
    try measure("default reports", [], events: 2_000_000)
    try measure(
      "50 reports with breakdowns", try fifty(), events: 200_000, defaults: false)
    try queryTime()
    try restart()
  }

  private static func measure(
    _ what: String, _ more: [ReportDefinition], events: Int, defaults: Bool = true
  ) throws {
    let folder = try TemporaryFolder()
    let recount = try Recount(
      folder.file("state.sqlite"), (defaults ? ReportDefinition.defaults : []) + more,
      start: Position(epoch: 1, offset: 0),
      configuration: AggregatorConfiguration(bus: "", directory: folder.path))
    var samples = AggregateSamples()
    let start = eb_process_cpu_ns()
    var counting: Int64 = 0
    for block in stride(from: 0, to: events, by: 10_000) {
      samples.fill(from: block, count: 10_000)
      let before = eb_process_cpu_ns()
      try samples.forEach { name, payload, number in
        try recount.take(
          Recount.Event(
            name: name, payload: payload,
            position: Position(epoch: 1, offset: UInt64(number)), time: samples.received))
      }
      if block % 500_000 == 0 { try recount.finish() }
      counting += eb_process_cpu_ns() - before
    }
    let before = eb_process_cpu_ns()
    try recount.finish()
    counting += eb_process_cpu_ns() - before
    let rate = Int(Double(events) / Double(counting) * 1e9)
    report(
      "\(what): \(rate) events a second, \(counting / Int64(events)) ns each; "
        + "resident \(eb_process_resident_bytes() >> 20) MiB "
        + "(making events took \((eb_process_cpu_ns() - start - counting) / 1_000_000) ms)")
  }

  private static func fifty() throws -> [ReportDefinition] {
    let kinds = [
      #""by": ["properties.plan"], "measures": ["count"]"#,
      #""by": ["event", "properties.plan"], "measures": ["count", {"sum": "properties.amount"}]"#,
      #""by": ["event"], "measures": [{"unique": "user"}]"#,
      #""by": ["properties.count"], "measures": ["count"]"#,
      #""by": ["properties.plan"], "measures": [{"quantiles": "properties.amount"}]"#,
    ]
    let reports = (0..<50).map { number in
      "{\"name\": \"report-\(number)\", \"window\": \"hour\", \(kinds[number % kinds.count])}"
    }
    let file = "{\"defaults\": false, \"reports\": [\(reports.joined(separator: ","))]}"
    return try ReportFile.parse(Array(file.utf8), path: "reports.json")
  }

  /// A day of a million users in 100 names, and as many doubles as are remembered: what a service has to
  /// read before it goes on, and what it takes then.
  private static func restart() throws {
    let folder = try TemporaryFolder()
    let configuration = AggregatorConfiguration(bus: "tcp://127.0.0.1:9", directory: folder.path)
    let events = 5_000_000
    do {
      let recount = try Recount(
        folder.file("aggregator.sqlite"), ReportDefinition.defaults,
        start: Position(epoch: 1, offset: 0), configuration: configuration)
      var samples = AggregateSamples()
      samples.step = Int64(86_400_000_000_000 / (events / 100))
      for block in stride(from: 0, to: events, by: 10_000) {
        samples.fill(from: block, count: 10_000)
        try samples.forEach { name, payload, number in
          try recount.take(
            Recount.Event(
              name: name, payload: payload,
              position: Position(epoch: 1, offset: UInt64(number)), time: samples.received))
        }
      }
      try recount.finish()
      report("a day of a million users: resident \(eb_process_resident_bytes() >> 20) MiB")
    }
    let start = eb_process_cpu_ns()
    let aggregator = try Aggregator(configuration) { _ in }
    let ready = eb_process_cpu_ns() - start
    aggregator.stop()
    aggregator.join()
    report("opened again in \(ready / 1_000_000) ms")
  }

  private static func queryTime() throws {
    let folder = try TemporaryFolder()
    let path = folder.file("state.sqlite")
    let definition = ReportDefinition.defaults[1]
    let recount = try Recount(
      path, [definition], start: Position(epoch: 1, offset: 0),
      configuration: AggregatorConfiguration(bus: "", directory: folder.path))
    var samples = AggregateSamples()
    samples.step = 3_600_000_000_000
    samples.fill(from: 0, count: 365 * 24 * 20, names: 20)
    try samples.forEach { name, payload, number in
      try recount.take(
        Recount.Event(
          name: name, payload: payload,
          position: Position(epoch: 1, offset: UInt64(number)), time: samples.received))
    }
    try recount.finish()
    var best = Int64.max
    var bytes = 0
    for _ in 0..<3 {
      let start = eb_process_cpu_ns()
      bytes = try ReportQuery.answer(definition, in: path)?.json.count ?? 0
      best = min(best, eb_process_cpu_ns() - start)
    }
    report("a year of hours by 20 names: \(best / 1000) us, \(bytes) bytes of JSON")
  }
}

/// Payloads of 200 bytes with ids, users and times of their own.
struct AggregateSamples {
  /// Nanoseconds between two events.
  var step: Int64 = 100_000
  let received: Int64 = 1_900_000_000_000_000_000
  private var bytes: [UInt8] = []
  private var events: [(name: Int, payload: Range<Int>, number: Int)] = []
  private var names: [[UInt8]] = []

  mutating func fill(from first: Int, count: Int, names nameCount: Int = 100) {
    bytes.removeAll(keepingCapacity: true)
    events.removeAll(keepingCapacity: true)
    if names.count != nameCount { names = (0..<nameCount).map { Array("Kind \($0)".utf8) } }
    for number in first..<first + count {
      let name = number % nameCount
      let start = bytes.count
      append(number, name, step == 100_000 ? number : number / nameCount)
      events.append((name, start..<bytes.count, number))
    }
  }

  func forEach(_ body: (RawSpan, RawSpan, Int) throws -> Void) rethrows {
    let all = unsafe bytes.span.bytes
    for event in events {
      let name = names[event.name]
      try unsafe body(name.span.bytes, all.extracting(event.payload), event.number)
    }
  }

  private mutating func append(_ number: Int, _ name: Int, _ tick: Int) {
    var writer = MessagePackWriter(appendingTo: bytes)
    bytes = []
    writer.writeMapHeader(6)
    writer.write("type" as StaticString)
    writer.write("track" as StaticString)
    writer.write("event" as StaticString)
    writer.writeStringHeader(names[name].count)
    writer.bytes += names[name]
    writer.write("messageId" as StaticString)
    writer.write("0190163d-8694-739b-aea5-\(100_000_000_000 + number)")
    writer.write("userId" as StaticString)
    // A million users in all, who come in an order of their own.
    writer.write("user-\(1_000_000 + number &* 7919 % 1_000_003)")
    writer.write("timestamp" as StaticString)
    writer.write(1_714_564_800_000_000_000 + Int64(tick) * step)
    writer.write("properties" as StaticString)
    writer.writeMapHeader(4)
    writer.write("plan" as StaticString)
    writer.write(number % 3 == 0 ? "pro" : "free")
    writer.write("amount" as StaticString)
    writer.write(Double(number % 1000) + 0.5)
    writer.write("count" as StaticString)
    writer.write(number % 50)
    writer.write("page" as StaticString)
    writer.write("/docs/a-page-of-some-length")
    bytes = writer.bytes
  }
}
