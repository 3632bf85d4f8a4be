internal import BusProtocol
internal import Destinations
internal import HTTPClient
internal import Primitives

/// Events of 200 bytes into requests: what the publishers do besides the network.
enum DestinationBenchmark {
  static func run() throws {
    let endpoint = try HTTPEndpoint("http://127.0.0.1:1")
    for level: Int32 in [0, 1, 2, 4, 6] {
      try measure(
        "segment, gzip \(level)",
        SegmentAdapter(
          SegmentConfiguration(endpoint: endpoint, writeKey: "key", gzipLevel: level)))
    }
    try measure(
      "mixpanel, gzip 0",
      MixpanelAdapter(
        MixpanelConfiguration(endpoint: endpoint, credential: .token("t"), gzipLevel: 0)))
    try measure(
      "gameanalytics, gzip 0",
      GameAnalyticsAdapter(
        GameAnalyticsConfiguration(
          endpoint: endpoint, gameKey: "g", secretKey: [1], gzipLevel: 0)))
    try measure("webhook", WebhookAdapter(WebhookConfiguration(endpoint: endpoint)))
  }

  private static func measure(_ what: String, _ adapter: some DestinationAdapter) throws {
    var adapter = adapter
    let events = BenchmarkEvents.payloads(names: 20)
    let source = EventSource(position: Position(epoch: 1, offset: 7), received: .now())
    let size = min(adapter.limits.events, 1200)
    let batches = 100
    var raw = 0
    var sent = 0
    let start = SystemClock.monotonic()
    for _ in 0..<batches {
      var items: [[UInt8]] = []
      items.reserveCapacity(size)
      for index in 0..<size {
        let event = events[index % events.count]
        var item: [UInt8] = []
        let outcome = unsafe adapter.prepare(
          event.name.span.bytes, event.payload.span.bytes, source, into: &item)
        guard outcome == .ready else { return report("\(what): \(outcome)") }
        raw += item.count
        items.append(item)
      }
      sent += adapter.call(items, sentAt: .now()).body.count
    }
    let seconds = Double(SystemClock.monotonic() - start) / 1e9
    let rate = Int(Double(size * batches) / seconds)
    report("\(what): \(rate) events a second, \(raw >> 20) MiB to \(sent >> 10) KiB")
  }
}
