import LoadTest
import Primitives
import ServiceRuntime

/// What `bench` says in the end: a table for people, a line for programs.
struct BenchReport {
  struct Step {
    var rate: Double
    var p99: Int64
    var isKept: Bool
  }

  let settings: BenchSettings
  var durability = ""
  /// The data of its own broker is on no disk: `fsync` promises nothing, and costs nothing.
  var isInMemory = false
  /// The measurement that is reported: of a ladder, that of the highest rate that kept the p99, else the
  /// last.
  private(set) var outcome = BenchOutcome(producers: [])
  /// Of all measurements.
  private(set) var verdict = Verdict([], [])
  private(set) var steps: [Step] = []
  var best: Double?
  private(set) var reported: Step?

  init(_ settings: BenchSettings) { self.settings = settings }

  mutating func add(_ outcome: BenchOutcome, rate: Double? = nil, isKept: Bool = false) {
    verdict.add(outcome.verdict)
    guard let rate else {
      self.outcome = outcome
      return
    }
    let p99 = outcome.latencies.value(atPercentile: 99)
    let step = Step(rate: rate, p99: p99, isKept: isKept)
    steps.append(step)
    let isBetter = isKept && (reported.map { !$0.isKept || $0.rate <= rate } ?? true)
    let isOnlyNewer = !isKept && reported?.isKept != true
    if isBetter || isOnlyNewer { (self.outcome, reported) = (outcome, step) }
  }

  var code: ExitCode {
    let isPublishingFaulty = verdict.refused + verdict.unacknowledged > 0
    if isPublishingFaulty || (settings.mode == .durable && !verdict.isClean) {
      return .eventsUnaccounted
    }
    return settings.slo != nil && best == nil ? .failed : .done
  }

  var faults: [(key: String, value: UInt64)] {
    [
      ("lost", verdict.lost), ("duplicated", verdict.duplicated),
      ("reordered", verdict.reordered), ("corrupted", verdict.corrupted),
      ("invented", verdict.invented), ("refused", verdict.refused),
      ("unacknowledged", verdict.unacknowledged),
    ]
  }

  var cpuParts: [(name: String, nanoseconds: Int64?)] {
    var parts: [(name: String, nanoseconds: Int64?)] = [("broker", outcome.brokerCPU)]
    if outcome.isBacklog {
      parts = [
        ("broker while built", outcome.brokerBuildCPU), ("broker while read", outcome.brokerCPU),
      ]
    }
    return parts + [
      ("producers", outcome.producers.reduce(0) { $0 + $1.cpu }),
      ("subscribers", outcome.subscribers.reduce(0) { $0 + $1.cpu }),
    ]
  }

  var memoryParts: [(name: String, bytes: Int64?)] {
    [
      ("broker", outcome.brokerMemory),
      ("largest producer", outcome.producers.map(\.memory).max()),
      ("largest subscriber", outcome.subscribers.map(\.memory).max()),
    ]
  }

  /// Microseconds of CPU for each event that was published.
  func perEvent(_ nanoseconds: Int64) -> Double {
    Double(nanoseconds) / 1000 / Double(max(1, outcome.published))
  }

  static let percentiles: [(key: String, value: Double)] = [
    ("p50", 50), ("p90", 90), ("p99", 99), ("p99.9", 99.9), ("p99.99", 99.99), ("max", 100),
  ]
}
