internal import Analytics
internal import CPlatform
internal import Primitives
internal import TestSupport

/// What analytics cost an app: the caller's time, memory while nothing can be sent, and the way to disk.
/// The promises are 2 µs, 64 MiB for 100,000 events, and 100 ms for 10,000.
enum AnalyticsBenchmark {
  static func run() async throws {
    let folder = try TemporaryFolder()
    // First, while the process has no memory of its own yet that it could use again.
    try await memory(folder)
    try await track(folder)
    try await store(folder)
  }

  /// A network that is away.
  private struct Away: AnalyticsTransport {
    func send(
      _ request: AnalyticsRequest
    ) async throws(AnalyticsTransportError) -> AnalyticsResponse {
      throw AnalyticsTransportError("no network")
    }
  }

  private static func client(
    _ path: String?, maximumEvents: Int = 100_000
  ) throws -> AnalyticsClient {
    var configuration = AnalyticsClientConfiguration(
      endpoint: "http://127.0.0.1:1/", storePath: path)
    configuration.maximumEvents = maximumEvents
    return try AnalyticsClient(configuration, transport: Away())
  }

  private static func event(_ number: Int) -> AnalyticsEvent {
    AnalyticsEvent(
      name: "Order Completed",
      properties: [
        "orderId": "order-4711", "total": 129.5, "currency": "EUR", "isGift": false,
        "number": PropertyValue(number),
      ])
  }

  private static func track(_ folder: TemporaryFolder) async throws {
    let client = try client(folder.file("track.sqlite"))
    let service = try AnalyticsService(providers: [client])
    let typed = EventType.GameEnded(opponentType: .human, winningPlayer: .first, moveCount: 21)
    for (name, sender) in [("client", client as any AnalyticsEventSending), ("service", service)] {
      let count = 50_000
      let start = SystemClock.monotonic()
      for _ in 0..<count { sender.send(typed) }
      let whole = SystemClock.monotonic() - start
      _ = await service.metrics
      _ = await client.metrics
      // One by one, when the thread that works on them is asleep: the caller wakes it.
      var alone: [Int64] = []
      for _ in 0..<200 {
        _ = waitUntil(.milliseconds(20)) { false }
        let start = SystemClock.monotonic()
        sender.send(typed)
        alone.append(SystemClock.monotonic() - start)
      }
      alone.sort()
      report(
        "\(name): track \(whole / Int64(count)) ns of \(count) in a row; alone, the thread asleep: "
          + "median \(alone[100]) ns, p90 \(alone[180]) ns")
    }
    await client.close()
  }

  private static func store(_ folder: TemporaryFolder) async throws {
    let client = try client(folder.file("store.sqlite"))
    while await !client.metrics.isStored { await Task.yield() }
    let events = (0..<10_000).map(event)
    let (start, cpu) = (SystemClock.monotonic(), eb_process_cpu_ns())
    for event in events { client.send(event) }
    let metrics = await client.metrics
    let milliseconds = (SystemClock.monotonic() - start) / 1_000_000
    let cpuMilliseconds = (eb_process_cpu_ns() - cpu) / 1_000_000
    report(
      "store: 10,000 events tracked, encoded and on disk (\(metrics.isStored)) in "
        + "\(milliseconds) ms, \(cpuMilliseconds) ms of CPU")
    await client.close()
  }

  private static func memory(_ folder: TemporaryFolder) async throws {
    let client = try client(folder.file("memory.sqlite"))
    _ = await client.metrics
    let before = eb_process_resident_bytes()
    for number in 0..<100_000 { client.send(event(number)) }
    let peak = eb_process_resident_bytes()
    let metrics = await client.metrics
    let after = eb_process_resident_bytes()
    report(
      "memory: \(metrics.waiting) events wait and are stored: \((after - before) >> 20) MiB; "
        + "just after tracking, not all encoded yet: \((peak - before) >> 20) MiB")
    await client.close()
  }
}
