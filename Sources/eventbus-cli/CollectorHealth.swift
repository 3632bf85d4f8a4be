import BusClient
import Collector
import HTTPServer
import ServiceRuntime
import TrackingPlan

/// What the collector answers about itself over HTTP.
enum CollectorHealth {
  /// Not ready while the bus is away or takes no events, and once the end was asked for.
  static func routes(_ collector: Collector, _ interruption: Interruption) -> HTTPRoutes {
    .health(
      metrics: { metrics(collector) },
      isReady: {
        let metrics = collector.metrics
        return !interruption.isRequested && metrics.isBusConnected && metrics.trouble.isEmpty
      },
      status: { status(collector) })
  }

  private static func status(_ collector: Collector) -> JSONText {
    let metrics = collector.metrics
    let server = collector.serverCounters
    return .object([
      .init("service", "collector"), .init("busConnected", .boolean(metrics.isBusConnected)),
      .init("bus", BusLinkHealth.json(collector.link)), .init("trouble", .text(metrics.trouble)),
      .init("stored", integer(metrics.stored)),
      .init("refused", integer(metrics.refused)), .init("waiting", integer(metrics.waiting)),
      .init("connections", integer(server.connections)),
      .init("full", integer(server.full)), .init("crowdedOut", integer(server.crowdedOut)),
      .init("tooSlow", integer(server.tooSlow)), .init("tooLarge", integer(server.tooLarge)),
      .init("plan", plan(collector, metrics.plan)),
    ])
  }

  /// The places that most want an entry in the plan are named; `eventbus plan paths` lists all.
  private static func plan(_ collector: Collector, _ plan: CollectorMetrics.Plan) -> JSONText {
    let paths = collector.unmappedPaths(20).map { count in
      JSONText.object([.init("path", .text(count.path)), .init("count", integer(count.count))])
    }
    return .object([
      .init("version", integer(plan.version)), .init("mapped", integer(plan.mapped)),
      .init("unmapped", integer(plan.unmapped)), .init("excluded", integer(plan.excluded)),
      .init("unmappedPaths", integer(plan.unmappedPaths)), .init("mostUnmapped", .list(paths)),
    ])
  }

  private static func integer(_ value: some BinaryInteger) -> JSONText {
    .integer(Int64(clamping: value))
  }

  private static func metrics(_ collector: Collector) -> [Metric] {
    let metrics = collector.metrics
    let server = collector.serverCounters
    let producer = collector.producerCounters
    return [
      labelled("requests_total", "Answers by route and status.", "status", metrics.requests),
      labelled(
        "events_total", "Events by route and verdict: STORED, or why not.", "verdict",
        metrics.events),
      counter("body_bytes_total", "Bytes of bodies as they were sent.", metrics.bodyBytes),
      counter("connections_total", "Connections accepted.", server.accepted),
      counter("too_slow_total", "Connections cut since a step took too long.", server.tooSlow),
      counter("full_total", "Times that all connections were taken.", server.full),
      counter(
        "crowded_out_total", "Connections cut then, as they did not move on.", server.crowdedOut),
      counter("too_large_total", "Requests whose body was too large.", server.tooLarge),
      counter("overloaded_total", "Requests for whose body there was no room.", server.overloaded),
      counter(
        "acknowledged_events_total", "Events durable at the bus.", producer.acknowledged),
      counter("plan_mapped_events_total", "Raw paths that became events.", metrics.plan.mapped),
      counter(
        "plan_unmapped_events_total", "Raw paths that the plan does not map.", metrics.plan.unmapped
      ),
      counter(
        "plan_excluded_events_total", "Raw paths from where nothing may come.",
        metrics.plan.excluded),
      gauge("plan_version", "The plan in force; 0: none.", metrics.plan.version),
      gauge("connections", "Connections now.", server.connections),
      gauge("waiting_requests", "Requests that wait for the bus.", metrics.waiting),
      gauge("bus_connected", "1 while the bus is reached.", metrics.isBusConnected ? 1 : 0),
      BusLinkHealth.metric("eventbus_collector", collector.link),
      gauge(
        "unacknowledged_events", "Events on their way to the bus.",
        Int(clamping: producer.unacknowledged)),
    ]
  }

  private static func labelled(
    _ name: String, _ help: String, _ label: String, _ counts: [CollectorMetrics.Labelled: UInt64]
  ) -> Metric {
    let sorted = counts.sorted { ($0.key.route, $0.key.what) < ($1.key.route, $1.key.what) }
    return Metric(
      "eventbus_collector_\(name)", .counter, help: help,
      samples: sorted.map {
        .init(Double($0.value), [.init("route", $0.key.route), .init(label, $0.key.what)])
      })
  }

  private static func counter(_ name: String, _ help: String, _ value: UInt64) -> Metric {
    .counter("eventbus_collector_\(name)", help: help, Int(clamping: value))
  }

  private static func gauge(_ name: String, _ help: String, _ value: Int) -> Metric {
    .gauge("eventbus_collector_\(name)", help: help, Double(value))
  }
}
