import Aggregation
import BusProtocol
import HTTPServer
import Primitives
import ServiceRuntime
import SinkState
import Synchronization

/// What the aggregator answers about itself over HTTP.
enum AggregatorHealth {
  /// Not ready before the bus has answered, while nothing can be stored, and once the end was asked for.
  static func routes(
    _ aggregator: Aggregator, _ interruption: Interruption, _ page: PageServer
  ) -> HTTPRoutes {
    .health(
      metrics: { metrics(aggregator.status) + pageMetrics(page) },
      isReady: {
        let status = aggregator.status
        return status.isReady && status.trouble.isEmpty && !interruption.isRequested
      },
      status: { status(aggregator.status) })
  }

  private static func status(_ status: AggregatorStatus) -> JSONText {
    let watermark = status.watermark.map { JSONText.text(Timestamp(nanoseconds: $0).text) }
    return .object([
      .init("service", "aggregator"), .init("busConnected", .boolean(status.isConnected)),
      .init("bus", BusLinkHealth.json(status.link)),
      .init("trouble", .text(status.trouble)), .init("reportFile", .text(status.fileTrouble)),
      .init("filling", status.filling.map(filling) ?? .null),
      .init("watermark", watermark ?? .null), .init("head", integer(status.head)),
      .init("lag", integer(status.lag)),
      .init("cursor", integer(status.progress?.cursor.offset ?? 0)),
      .init("epoch", integer(status.progress?.cursor.epoch ?? 0)),
      .init("ledger", .object(ledger(status).map { .init($0.key, integer($0.count)) })),
      .init("conflicts", integer(status.conflicts)), .init("joins", integer(status.joins)),
      .init("forgottenPeople", integer(status.forgotten)),
      .init("reports", .list(status.reports.map { .text($0.name) })),
    ])
  }

  private static func filling(_ filling: AggregatorStatus.Filling) -> JSONText {
    .object([
      .init("reports", .list(filling.reports.map { .text($0) })),
      .init("offset", integer(filling.offset)),
    ])
  }

  private static func integer(_ value: some BinaryInteger) -> JSONText {
    .integer(Int64(clamping: value))
  }

  /// What became of every event since the start; the counts add up to the offsets passed.
  private static func ledger(_ status: AggregatorStatus) -> [(key: String, count: UInt64)] {
    guard let ledger = status.progress?.ledger else { return [] }
    return [
      ("start", ledger.start.offset), ("applied", ledger.applied),
      ("duplicate", ledger.duplicate), ("refused", ledger.refused), ("dead", ledger.dead),
      ("forgotten", ledger.forgotten), ("notMatched", ledger.notMatched),
      ("missing", ledger.missing), ("skipped", ledger.skipped), ("rewound", ledger.rewound),
    ]
  }

  private static func metrics(_ status: AggregatorStatus) -> [Metric] {
    let events = Metric(
      "eventbus_aggregator_events_total", .counter,
      help: "What became of the events since the start, durable.",
      samples: ledger(status).dropFirst().map {
        .init(Double($0.count), [.init("outcome", $0.key)])
      })
    return [
      events,
      gauge("cursor_offset", "The next offset wanted.", status.progress?.cursor.offset ?? 0),
      gauge("lag_events", "Offsets between the cursor and the head.", status.lag),
      gauge("bus_connected", "1 while the bus is reached.", status.isConnected ? 1 : 0),
      BusLinkHealth.metric("eventbus_aggregator", status.link),
      gauge("storing", "1 while state can be stored.", status.trouble.isEmpty ? 1 : 0),
      Metric(
        "eventbus_aggregator_watermark_seconds", .gauge,
        help: "Event time up to which windows are closed, since 1970.",
        samples: status.watermark.map { [.init(Double($0) / 1e9)] } ?? []),
      perReport(status, "events_total", .counter, "Events that took effect in a report.") {
        Double($0.events + $0.expired)
      },
      perReport(status, "late_total", .counter, "Events that came after their window had closed.") {
        Double($0.late)
      },
      perReport(status, "window_bytes", .gauge, "Bytes of a report's windows in memory.") {
        Double($0.windowBytes)
      },
    ]
  }

  private static func pageMetrics(_ page: PageServer) -> [Metric] {
    let server = page.counters
    return [
      .counter(
        "eventbus_aggregator_page_denied_total",
        help: "Requests without the token, or with a wrong one.",
        Int(clamping: page.denied.load(ordering: .relaxed))),
      gauge("page_streams", "Pages that look on.", UInt64(server.streams)),
      .counter(
        "eventbus_aggregator_page_streams_refused_total",
        help: "Pages that were refused, as there were too many.",
        Int(clamping: server.streamsRefused)),
      .counter(
        "eventbus_aggregator_page_skipped_total",
        help: "Pictures that slow pages did not get.", Int(clamping: server.messagesSkipped)),
      .counter(
        "eventbus_aggregator_page_full_total", help: "Times that all connections were taken.",
        Int(clamping: server.full)),
      .counter(
        "eventbus_aggregator_page_crowded_out_total",
        help: "Connections cut then, as they did not move on.", Int(clamping: server.crowdedOut)),
      .counter(
        "eventbus_aggregator_page_cut_total", help: "Connections cut since they took nothing.",
        Int(clamping: server.tooSlow)),
    ]
  }

  private static func perReport(
    _ status: AggregatorStatus, _ name: String, _ kind: Metric.Kind, _ help: String,
    _ value: (AggregatorStatus.Report) -> Double
  ) -> Metric {
    Metric(
      "eventbus_aggregator_report_\(name)", kind, help: help,
      samples: status.reports.map { .init(value($0), [.init("report", $0.name)]) })
  }

  private static func gauge(_ name: String, _ help: String, _ value: UInt64) -> Metric {
    .gauge("eventbus_aggregator_\(name)", help: help, Double(value))
  }
}
