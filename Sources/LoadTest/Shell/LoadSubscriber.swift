internal import BusClient
internal import BusProtocol
internal import CPlatform
internal import Primitives

/// One subscriber of a load test, on the calling thread: it reads until it is told to stop.
public struct LoadSubscriber {
  private let settings: WorkerSettings
  private let hooks: WorkerHooks
  private let reader: ProbeReader
  private var result: SubscriberResult
  private var nextProgress: Int64 = 0

  public init(_ settings: WorkerSettings, _ hooks: WorkerHooks) {
    self.settings = settings
    self.hooks = hooks
    reader = ProbeReader(run: settings.run, size: settings.size)
    result = SubscriberResult(producers: settings.producers)
  }

  public mutating func run() throws -> SubscriberResult {
    switch settings.mode {
    case .durable: try readDurable()
    case .live: try readLive()
    }
    result.memory = eb_process_resident_bytes()
    return result
  }

  private mutating func readDurable() throws {
    var configuration = SubscriberConfiguration(
      address: settings.bus, client: "eventbus bench subscriber \(settings.index)",
      name: settings.subscriberName(settings.index))
    configuration.filters = [NameFilter(.exact, ProbeWriter.name)]
    configuration.start = .offset(settings.fromOffset)
    let subscriber = try Subscriber(configuration)
    // Its name is deleted next, which must be free by then.
    defer { subscriber.closeBlocking() }
    guard try subscriber.waitUntilLetIn(deadline: settings.timeout) else { throw unreachable }
    hooks.ready()
    let cpu = eb_process_cpu_ns()
    var end: Position?
    while !hooks.isStopped() {
      guard let batch = try subscriber.nextBatch(deadline: .milliseconds(50)) else {
        reportProgress(SystemClock.monotonic())
        continue
      }
      if batch.gap != nil { result.gaps += 1 }
      let now = SystemClock.monotonic()
      batch.forEach { _, _, payload in take(payload, at: now) }
      subscriber.commit(batch)
      end = batch.end
      reportProgress(now)
    }
    if let end { _ = try subscriber.waitForCommit(end, deadline: .seconds(2)) }
    result.cpu = eb_process_cpu_ns() - cpu
  }

  private mutating func readLive() throws {
    var subscriber: LiveSubscriber
    do throws(BusClientError) {
      subscriber = try LiveSubscriber(
        busAddress: settings.bus, names: [ProbeWriter.name], deadline: settings.timeout)
    } catch {
      if case .timedOut = error { throw unreachable }
      throw error
    }
    var isReady = false
    let cpu = eb_process_cpu_ns()
    while !hooks.isStopped() {
      switch try subscriber.next(deadline: .milliseconds(50)) {
      case nil: reportProgress(SystemClock.monotonic())
      case .ready:
        if !isReady { hooks.ready() }
        isReady = true
      case .lost: result.gaps += 1
      case .event(let event, _):
        let now = SystemClock.monotonic()
        unsafe take(event.payload.span.bytes, at: now)
        reportProgress(now)
      }
    }
    result.cpu = eb_process_cpu_ns() - cpu
  }

  private var unreachable: LoadTestError {
    LoadTestError(
      "no answer from \(settings.bus) within \(settings.timeout): "
        + BusHost.whySilent(settings.bus), isUnreachable: true)
  }

  private mutating func take(_ payload: RawSpan, at now: Int64) {
    guard let intended = result.tally.take(reader.read(payload)) else { return }
    if result.measured == 0 { result.first = now }
    result.last = now
    result.measured += 1
    result.latencies.record(now - intended)
  }

  private mutating func reportProgress(_ now: Int64) {
    guard now >= nextProgress else { return }
    nextProgress = now + 100_000_000
    hooks.progress(result.tally.received)
  }
}
