import LoadTest
import Primitives
import ServiceRuntime

// For programs.
extension BenchReport {
  var json: JSONText {
    var members: [JSONText.Member] = [
      .init("mode", .text(settings.mode.rawValue)), .init("durability", .text(durability)),
      .init("inMemory", .boolean(isInMemory)),
      .init("bus", settings.bus.map { .text($0) } ?? .null),
      .init("producers", .integer(Int64(settings.producers))),
      .init("subscribers", .integer(Int64(settings.subscribers))),
      .init("size", .integer(Int64(settings.size))),
      .init("batch", .integer(Int64(settings.batch))),
      .init("intendedRate", (reported?.rate ?? settings.rate).map { .double($0) } ?? .null),
      .init("published", number(outcome.published)),
      .init("acknowledged", number(outcome.acknowledged)),
      .init("seconds", .double(outcome.publishSeconds)), .init("rate", .double(outcome.rate)),
      .init("publishRate", .double(outcome.publishRate)),
      .init("isBacklog", .boolean(outcome.isBacklog)),
      .init("latencyMicroseconds", microseconds(outcome.latencies)),
      .init("generatorMicroseconds", microseconds(outcome.lateness)),
      .init(
        "cpuMicrosecondsAnEvent",
        .object(
          cpuParts.map {
            .init($0.name, $0.nanoseconds.map { .double(perEvent($0)) } ?? .null)
          })),
      .init(
        "memoryBytes",
        .object(memoryParts.map { .init($0.name, $0.bytes.map { .integer($0) } ?? .null) })),
    ]
    members += faults.map { .init($0.key, number($0.value)) }
    if let slo = settings.slo {
      members += [
        .init("sloMicroseconds", .double(Double(slo.nanoseconds) / 1000)),
        .init("highestRate", best.map { .double($0) } ?? .null),
        .init(
          "ladder",
          .list(
            steps.map {
              .object([
                .init("rate", .double($0.rate)), .init("p99", .double(Double($0.p99) / 1000)),
                .init("kept", .boolean($0.isKept)),
              ])
            })),
      ]
    }
    return .object(members)
  }

  private func microseconds(_ histogram: LatencyHistogram) -> JSONText {
    guard !histogram.isEmpty else { return .null }
    return .object(
      [.init("count", number(histogram.count)), .init("mean", .double(histogram.mean / 1000))]
        + Self.percentiles.map {
          .init($0.key, .double(Double(histogram.value(atPercentile: $0.value)) / 1000))
        })
  }

  private func number(_ value: UInt64) -> JSONText { .integer(Int64(clamping: value)) }
}
