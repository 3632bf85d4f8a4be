import BusProtocol
import Destinations
import HTTPServer
import Primitives
import ServiceRuntime
import SinkState

/// What a publisher answers about itself over HTTP.
enum PublisherHealth {
  /// Ready while it takes events: also when the destination is away, since they are kept.
  static func routes(_ process: DeliveryProcess, _ interruption: Interruption) -> HTTPRoutes {
    .health(
      metrics: { metrics(process.status) },
      isReady: { !interruption.isRequested && process.status.isConnected },
      status: { PublisherStatus.json(process.status) })
  }

  static func metrics(_ status: DeliveryStatus) -> [Metric] {
    [state(status), outcomes(status), ledger(status)] + requests(status) + gauges(status)
  }

  private static func state(_ status: DeliveryStatus) -> Metric {
    metric(
      "state", .gauge, "1 for the state that the destination is in.", status,
      DeliveryState.words.map { ($0 == status.state.word ? 1 : 0, [.init("state", $0)]) })
  }

  private static func outcomes(_ status: DeliveryStatus) -> Metric {
    let counts = status.counts
    let outcomes: [(String, UInt64)] = [
      ("delivered", counts.delivered), ("skipped", counts.skipped),
      ("forgotten", counts.forgotten), ("refused_before_sending", counts.refusedBefore),
      ("refused_by_destination", counts.refusedByDestination), ("failing_alone", counts.failing),
    ]
    return metric(
      "events_total", .counter, "Events settled since the start, by outcome.", status,
      outcomes.map { (Double($0.1), [.init("outcome", $0.0)]) })
  }

  private static func ledger(_ status: DeliveryStatus) -> Metric {
    let ledger = status.progress?.ledger ?? SinkLedger(start: Position(epoch: 0, offset: 0))
    let counts: [(String, UInt64)] = [
      ("applied", ledger.applied), ("dead", ledger.dead), ("forgotten", ledger.forgotten),
      ("not_matched", ledger.notMatched), ("refused", ledger.refused),
      ("missing", ledger.missing), ("skipped", ledger.skipped),
    ]
    return metric(
      "ledger_events", .gauge, "The stored ledger, since the destination's beginning.", status,
      counts.map { (Double($0.1), [.init("what", $0.0)]) })
  }

  private static func requests(_ status: DeliveryStatus) -> [Metric] {
    let counts = status.counts
    return [
      counter("requests_total", "Requests made.", counts.requests, status),
      counter("retries_total", "Requests that carried events again.", counts.retries, status),
      counter("splits_total", "Requests that were halved.", counts.splits, status),
      counter("unanswered_total", "Requests without an answer.", counts.unanswered, status),
      counter(
        "unproven_total", "Events delivered by an answer that cannot be read.", counts.unproven,
        status),
      counter("holds_total", "Times that a user had to wait.", counts.holds, status),
      counter("redriven_total", "Dead letters delivered after all.", counts.redriven, status),
      counter(
        "dead_letters_dropped_total", "Dead letters dropped at their bound.",
        status.letters.dropped, status),
    ]
  }

  private static func gauges(_ status: DeliveryStatus) -> [Metric] {
    let age = status.oldestAge(at: Timestamp.now())?.nanoseconds ?? 0
    return [
      gauge(
        "waiting_events", "Events taken and not settled.", Double(status.waitingEvents), status),
      gauge("waiting_bytes", "Bytes of these.", Double(status.waitingBytes), status),
      gauge("oldest_waiting_seconds", "Age of the oldest of them.", Double(age) / 1e9, status),
      gauge("lag_events", "Events of the bus behind the cursor.", Double(status.lag), status),
      gauge("held_users", "Users who have to wait.", Double(status.heldUsers), status),
      gauge("delivered_per_second", "Over the last ten seconds.", status.rate, status),
      gauge("dead_letters", "Dead letters kept.", Double(status.letters.count), status),
      gauge("dead_letter_bytes", "Bytes of these.", Double(status.letters.bytes), status),
      gauge(
        "bus_connected", "1 while the bus is reached.", status.isConnected ? 1 : 0, status),
      BusLinkHealth.metric(
        "eventbus_destination", status.link, [.init("destination", status.name)]),
    ]
  }

  private static func counter(
    _ name: String, _ help: String, _ value: UInt64, _ status: DeliveryStatus
  ) -> Metric { metric(name, .counter, help, status, [(Double(value), [])]) }

  private static func gauge(
    _ name: String, _ help: String, _ value: Double, _ status: DeliveryStatus
  ) -> Metric { metric(name, .gauge, help, status, [(value, [])]) }

  private static func metric(
    _ name: String, _ kind: Metric.Kind, _ help: String, _ status: DeliveryStatus,
    _ samples: [(Double, [Metric.Label])]
  ) -> Metric {
    Metric(
      "eventbus_destination_\(name)", kind, help: help,
      samples: samples.map { .init($0.0, [.init("destination", status.name)] + $0.1) })
  }
}
