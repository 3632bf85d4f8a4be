public import BusClient
internal import CPlatform
internal import Primitives

#if canImport(Glibc)
  internal import Glibc
#else
  internal import Darwin
#endif

/// One producer of a load test, on the calling thread.
public struct LoadProducer: ~Copyable {
  /// The clock is read for each event of a schedule, but only so often when there is none: it costs more
  /// than an event does.
  private static let clockEvery: UInt64 = 16

  private let settings: WorkerSettings
  private let hooks: WorkerHooks
  private let producer: Producer
  private var result = ProducerResult()
  private var nextProgress: Int64 = 0

  public init(_ settings: WorkerSettings, _ hooks: WorkerHooks) throws(BusClientError) {
    self.settings = settings
    self.hooks = hooks
    var configuration = ProducerConfiguration(
      address: settings.bus, client: "eventbus bench producer \(settings.index)")
    configuration.batchEvents = settings.batch
    // A batch as large as its events need: the count is what the test is asked for.
    configuration.batchBytes = min(1 << 20, max(256 << 10, settings.batch * (settings.size + 64)))
    if settings.isAddressed {
      configuration.addressees = (0..<settings.subscribers).map(settings.subscriberName)
    }
    producer = try Producer(configuration)
  }

  /// Publishes by the schedule, then waits for what is not acknowledged.
  public consuming func run() throws -> ProducerResult {
    guard try producer.waitUntilConnected(deadline: settings.timeout) else {
      let denial = producer.denial
      _ = producer.closeBlocking(deadline: .zero)
      if let denial { throw LoadTestError(BusClientError.denied(text: denial).description) }
      throw LoadTestError(
        "no answer from \(settings.bus) within \(settings.timeout): "
          + BusHost.whySilent(settings.bus), isUnreachable: true)
    }
    hooks.ready()
    let cpu = eb_process_cpu_ns()
    try publish()
    let flushed = producer.closeBlocking(deadline: settings.timeout)
    result.last = SystemClock.monotonic()
    result.cpu = eb_process_cpu_ns() - cpu
    result.memory = eb_process_resident_bytes()
    result.tally.acknowledged = flushed.acknowledged
    result.tally.refused = flushed.refused
    if let failure = flushed.failure { throw LoadTestError("\(failure)") }
    return result
  }

  private mutating func publish() throws {
    let start = SystemClock.monotonic()
    result.first = start
    let schedule = LoadSchedule(
      start: start, rate: settings.rate, producer: settings.index, of: settings.producers,
      events: settings.events, duration: settings.duration?.nanoseconds,
      warmUp: settings.warmUp.nanoseconds, giveUpBehind: settings.giveUpBehind?.nanoseconds)
    var writer = ProbeWriter(
      run: settings.run, producer: settings.index, size: settings.size,
      clockOffset: SystemClock.realtime() - start)
    let name = Array(ProbeWriter.name.utf8)
    var now = start
    var index: UInt64 = 0
    while !hooks.isStopped() {
      if settings.rate != nil || index % Self.clockEvery == 0 {
        now = SystemClock.monotonic()
        reportProgress(now)
      }
      switch schedule.step(index, at: now) {
      case .done: return
      case .giveUp:
        result.gaveUp = true
        return
      case .wait(let time): Self.sleep(from: now, to: min(time, now + 100_000_000))
      case .send(let intended, let isWarmUp):
        if !isWarmUp, settings.rate != nil { result.lateness.record(now - intended) }
        writer.write(sequence: index, intended: intended, isWarmUp: isWarmUp)
        try producer.publish(payload: writer.bytes, name: name)
        index += 1
        result.tally.published = index
      }
    }
  }

  private mutating func reportProgress(_ now: Int64) {
    guard now >= nextProgress else { return }
    nextProgress = now + 100_000_000
    hooks.progress(result.tally.published)
  }

  private static func sleep(from now: Int64, to time: Int64) {
    let left = time - now
    var wait = timespec(tv_sec: Int(left / 1_000_000_000), tv_nsec: Int(left % 1_000_000_000))
    // Woken early by nobody; the schedule looks at the clock again.
    _ = unsafe nanosleep(&wait, nil)
  }
}
