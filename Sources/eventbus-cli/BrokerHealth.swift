import BusBroker
import HTTPServer
import ServiceRuntime

/// What the broker answers about itself over HTTP.
enum BrokerHealth {
  /// Not ready while new events are refused (a full disk) and once the end was asked for.
  static func routes(_ broker: Broker, _ interruption: Interruption) -> HTTPRoutes {
    .health(
      metrics: { metrics(broker.status) },
      isReady: {
        broker.isRunning && !interruption.isRequested && broker.status.trouble.isEmpty
      },
      status: { ControlJSON.json(broker.status.map) })
  }

  static func metrics(_ status: BrokerStatus) -> [Metric] {
    counters(status) + journal(status) + parties(status)
  }

  private static func counters(_ status: BrokerStatus) -> [Metric] {
    status.counters.map { key, value in
      Metric(
        "eventbus_broker_\(snakeCase(key))_total", .counter,
        help: "The ledger's \(key), since the start.", samples: [.init(Double(value))])
    }
  }

  private static func journal(_ status: BrokerStatus) -> [Metric] {
    [
      gauge("earliest_offset", "The oldest offset kept.", status.earliest),
      gauge("head_offset", "The next offset to be given.", status.head),
      gauge("durable_head_offset", "The first offset not yet durable.", status.durableHead),
      gauge("epoch", "The journal's epoch.", UInt64(status.epoch)),
      gauge("journal_bytes", "Bytes of the journal's files.", UInt64(max(0, status.journalBytes))),
      gauge("segments", "Files of the journal.", UInt64(max(0, status.segments))),
      gauge(
        "bytes_in_flight", "Bytes received and not yet acknowledged.",
        UInt64(max(0, status.bytesInFlight))),
      gauge(
        "taking_events", "1 while new events are taken, 0 while they are refused.",
        status.trouble.isEmpty ? 1 : 0),
    ]
  }

  private static func parties(_ status: BrokerStatus) -> [Metric] {
    [
      gauge("names", "Event names known.", UInt64(status.nameCount)),
      gauge("producers", "Producers connected.", UInt64(status.producers)),
      gauge(
        "subscribers", "Subscribers connected, readers without a name included.",
        UInt64(status.subscribers)),
      gauge("readers", "Readers without a name connected.", UInt64(status.readers)),
      Metric(
        "eventbus_broker_name_events_total", .counter,
        help: "Events by name since the journal's beginning; the 1,000 busiest.",
        samples: status.names.map {
          .init(Double($0.events), [.init("event", String(decoding: $0.name, as: UTF8.self))])
        }),
      Metric(
        "eventbus_broker_subscriber_lag_events", .gauge,
        help: "Offsets between a named subscriber's cursor and the durable head.",
        samples: status.consumers.map { .init(Double($0.lag), [.init("subscriber", $0.name)]) }),
      Metric(
        "eventbus_broker_subscriber_connected", .gauge,
        help: "1 while the named subscriber is connected.",
        samples: status.consumers.map {
          .init($0.isConnected ? 1 : 0, [.init("subscriber", $0.name)])
        }),
      Metric(
        "eventbus_broker_refusals_total", .counter,
        help: "What was refused, by the port it came in and the reason.",
        samples: status.refusals.map {
          .init(Double($0.count), [.init("port", $0.port), .init("reason", $0.reason)])
        }),
      Metric(
        "eventbus_broker_handshakes_failed_total", .counter,
        help:
          "keys: one side has none; server_key: the client believes another broker; language: no "
          + "ZMTP; ended: it went in the middle, as one does that only looks. Denied keys are among the refusals.",
        samples: status.handshakes.map {
          .init(Double($0.count), [.init("port", $0.port), .init("reason", $0.reason)])
        }),
    ]
  }

  private static func gauge(_ name: String, _ help: String, _ value: UInt64) -> Metric {
    .gauge("eventbus_broker_\(name)", help: help, Double(value))
  }

  private static func snakeCase(_ key: String) -> String {
    key.reduce(into: "") { $0 += $1.isUppercase ? "_" + $1.lowercased() : String($1) }
  }
}
