import LoadTest
import Primitives
import ServiceRuntime

/// One measurement: producers and subscribers of one run, and the broker's CPU meanwhile.
struct BenchStage {
  private let settings: BenchSettings
  private let worker: WorkerSettings
  private let scratch: ScratchFolder
  private let context: Commands.Context

  init(
    _ settings: BenchSettings, _ worker: WorkerSettings, _ scratch: ScratchFolder,
    _ context: Commands.Context
  ) {
    self.settings = settings
    self.worker = worker
    self.scratch = scratch
    self.context = context
  }

  /// Subscribers read while producers publish.
  func together(_ broker: BenchBroker?) throws -> BenchOutcome {
    let subscribers = try workers("subscriber", settings.subscribers)
    try subscribers.waitUntilReady(worker.timeout)
    let cpu = broker?.child.cpu
    let producers = try workers("producer", settings.producers)
    var bar = ProgressBar(label, total: expectedEvents)
    try producers.waitUntilEnded {
      try subscribers.look(waiting: 0)
      bar.update(Int(clamping: producers.progress))
    }
    bar.finish()
    var outcome = BenchOutcome(producers: try producerResults(producers))
    try finish(subscribers, &outcome)
    outcome.brokerCPU = difference(broker?.child.cpu, cpu)
    return outcome
  }

  /// Producers first, with the subscribers known to the broker and away; then the subscribers.
  func backlog(_ broker: BenchBroker?) throws -> BenchOutcome {
    let early = try workers("subscriber", settings.subscribers)
    try early.waitUntilReady(worker.timeout)
    early.stop()
    try early.waitUntilEnded()
    let cpu = broker?.child.cpu
    let producers = try workers("producer", settings.producers)
    var bar = ProgressBar("building the backlog", total: expectedEvents)
    try producers.waitUntilEnded { bar.update(Int(clamping: producers.progress)) }
    bar.finish()
    var outcome = BenchOutcome(producers: try producerResults(producers))
    outcome.isBacklog = true
    outcome.brokerBuildCPU = difference(broker?.child.cpu, cpu)
    let drainCPU = broker?.child.cpu
    outcome.readingStart = SystemClock.monotonic()
    let subscribers = try workers("subscriber", settings.subscribers)
    try finish(subscribers, &outcome, label: "reading the backlog")
    outcome.brokerCPU = difference(broker?.child.cpu, drainCPU)
    return outcome
  }

  /// Waits until each subscriber has what was acknowledged, or nothing more comes; then ends them.
  private func finish(
    _ subscribers: BenchWorkers, _ outcome: inout BenchOutcome, label: String = "last events"
  ) throws {
    let expected = outcome.producers.reduce(0) { $0 + $1.tally.acknowledged }
    let patience = settings.mode == .live ? 1_000_000_000 : worker.timeout.nanoseconds
    var (seen, changed): (UInt64, Int64) = (0, SystemClock.monotonic())
    var bar = ProgressBar(label, total: Int(clamping: expected))
    while subscribers.leastProgress < expected, settings.subscribers > 0 {
      try subscribers.look()
      let now = SystemClock.monotonic()
      if subscribers.progress != seen { (seen, changed) = (subscribers.progress, now) }
      bar.update(Int(clamping: subscribers.leastProgress))
      if now - changed > patience { break }
    }
    bar.finish()
    // A double of the last event would come right behind it.
    try subscribers.look(waiting: 100)
    subscribers.stop()
    try subscribers.waitUntilEnded()
    for bytes in try subscribers.results() {
      outcome.subscribers.append(try unsafe SubscriberResult(bytes.span.bytes))
    }
  }

  private func producerResults(_ workers: BenchWorkers) throws -> [ProducerResult] {
    try workers.results().map { try unsafe ProducerResult($0.span.bytes) }
  }

  private func workers(_ role: String, _ count: Int) throws -> BenchWorkers {
    let all = (0..<count).map { index in
      var one = worker
      one.index = index
      return one
    }
    return try BenchWorkers(role, all, scratch, context)
  }

  private var label: String {
    worker.rate.map { "at \(Int($0.rounded()))/s" } ?? "published"
  }

  private var expectedEvents: Int? {
    if let events = worker.events { return Int(clamping: events) }
    guard let rate = worker.rate, let duration = worker.duration else { return nil }
    let seconds = Double((duration + worker.warmUp).nanoseconds) / 1e9
    return Int(rate * seconds)
  }

  private func difference(_ later: Int64?, _ earlier: Int64?) -> Int64? {
    guard let later, let earlier else { return nil }
    return later - earlier
  }
}

/// What one measurement found.
struct BenchOutcome {
  var producers: [ProducerResult]
  var subscribers: [SubscriberResult] = []
  var isBacklog = false
  /// When the readers of a backlog were started.
  var readingStart: Int64?
  /// CPU nanoseconds of the broker while it took events and gave them out; of a backlog, the latter.
  var brokerCPU: Int64?
  var brokerBuildCPU: Int64?
  var brokerMemory: Int64?

  var verdict: Verdict { Verdict(producers.map(\.tally), subscribers.map(\.tally)) }

  var published: UInt64 { producers.reduce(0) { $0 + $1.tally.published } }
  var acknowledged: UInt64 { producers.reduce(0) { $0 + $1.tally.acknowledged } }

  var latencies: LatencyHistogram {
    subscribers.reduce(into: LatencyHistogram()) { $0.merge($1.latencies) }
  }

  var lateness: LatencyHistogram {
    producers.reduce(into: LatencyHistogram()) { $0.merge($1.lateness) }
  }

  /// Seconds from the first producer's start to the last acknowledgement.
  var publishSeconds: Double {
    let (first, last) = (producers.map(\.first).min() ?? 0, producers.map(\.last).max() ?? 0)
    return Double(max(1, last - first)) / 1e9
  }

  var publishRate: Double { Double(acknowledged) / publishSeconds }

  /// Events a second that the slowest subscriber got; of the producers where nobody reads.
  var rate: Double {
    guard isWholeRun else { return subscribers.map(\.rate).min() ?? publishRate }
    let start = readingStart ?? producers.map(\.first).min() ?? 0
    return subscribers.map { $0.rate(since: start) }.min() ?? publishRate
  }

  /// What is left behind the warm-up is too short to be a rate: the warm-up counts as well then.
  var isWholeRun: Bool { subscribers.contains { $0.last - $0.first < Self.shortest } }
  private static let shortest: Int64 = 100_000_000

  /// Whether 99 of 100 events that were meant to be sent came within `limit` to each subscriber. One that
  /// did not come is late for ever, and a schedule that was given up is not kept.
  func keeps(_ limit: Duration) -> Bool {
    let meant = lateness.count * UInt64(subscribers.count)
    guard meant > 0, !producers.contains(where: \.gaveUp) else { return false }
    return Double(latencies.count(upTo: limit.nanoseconds)) >= 0.99 * Double(meant)
  }
}
