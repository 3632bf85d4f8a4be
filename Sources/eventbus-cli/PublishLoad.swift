import BusClient
import BusProtocol
import Primitives
import ServiceRuntime
import Synchronization

/// A load test: made events, or a file over and over, by several producers, at a rate or as fast as the
/// bus takes them.
struct PublishLoad {
  private let settings: PublishSettings
  private let context: Commands.Context
  private let events: [LoadEvent]

  init(_ settings: PublishSettings, _ context: Commands.Context) throws {
    self.settings = settings
    self.context = context
    if let file = settings.file {
      events = try LoadEvents.read(file, context)
    } else {
      let names = settings.names.isEmpty ? ["Load Test"] : settings.names
      events = try LoadEvents.made(names, size: settings.size)
    }
  }

  func run() throws -> ExitCode {
    let start = SystemClock.monotonic()
    let notes = PublishNotes()
    let shared = LoadShared()
    let total = settings.count
    var threads: [OwnedThread] = []
    for index in 0..<settings.producers {
      let producer = try makeProducer(notes, shared)
      let share = LoadShare(settings, index: index)
      threads.append(
        try OwnedThread(name: "eb-load-\(index)") { [events, settings, context] in
          var worker = LoadWorker(
            producer: producer, events: events, share: share, interruption: context.interruption)
          shared.finish(worker.run(settings))
        })
    }
    var bar = ProgressBar("published", total: total)
    while shared.finished < settings.producers {
      bar.update(shared.acknowledged)
      Pause.wait(milliseconds: 100)
    }
    bar.finish()
    for thread in threads { thread.join() }
    var outcome = shared.outcome
    outcome.seconds = Double(SystemClock.monotonic() - start) / 1e9
    outcome.durability = notes.durability
    return outcome.report(settings, context)
  }

  private func makeProducer(_ notes: PublishNotes, _ shared: LoadShared) throws -> Producer {
    var configuration = try settings.configuration(context)
    configuration.onNotice = { notes.take($0) }
    configuration.onReport = { notes.take($0) }
    configuration.onRefused = { notes.refused($0) }
    configuration.onAcknowledged = { shared.acknowledge($0) }
    return try Producer(configuration)
  }
}

/// What the producers of a load test have done together.
private final class LoadShared: Sendable {
  private let state = Mutex((outcome: PublishOutcome(), finished: 0))
  private let count = Atomic<Int>(0)

  var acknowledged: Int { count.load(ordering: .relaxed) }
  var finished: Int { state.withLock { $0.finished } }
  var outcome: PublishOutcome { state.withLock { $0.outcome } }

  func acknowledge(_ events: Int) { count.add(events, ordering: .relaxed) }

  func finish(_ part: PublishOutcome) {
    state.withLock { state in
      state.outcome.read += part.read
      state.outcome.published += part.published
      state.outcome.acknowledged += part.acknowledged
      state.outcome.refusedHere += part.refusedHere
      state.outcome.refusedThere += part.refusedThere
      state.outcome.unacknowledged += part.unacknowledged
      state.outcome.failure = state.outcome.failure ?? part.failure
      state.outcome.wasReached = state.outcome.wasReached && part.wasReached
      state.finished += 1
    }
  }
}

/// One producer's part of the whole.
private struct LoadShare {
  var count: Int?
  var rate: Double?

  init(_ settings: PublishSettings, index: Int) {
    let producers = settings.producers
    count = settings.count.map { $0 / producers + (index < $0 % producers ? 1 : 0) }
    rate = settings.rate.map { $0 / Double(producers) }
  }
}

/// Publishes one producer's share on a thread of its own.
private struct LoadWorker {
  let producer: Producer
  let events: [LoadEvent]
  let share: LoadShare
  let interruption: Interruption
  private var outcome = PublishOutcome()
  private var ids = UUIDv7Generator()
  private var payload: [UInt8] = []

  init(
    producer: Producer, events: [LoadEvent], share: LoadShare, interruption: Interruption
  ) {
    self.producer = producer
    self.events = events
    self.share = share
    self.interruption = interruption
  }

  mutating func run(_ settings: PublishSettings) -> PublishOutcome {
    do throws(BusClientError) {
      outcome.wasReached = try producer.waitForBus(settings.timeout, interruption)
      if outcome.wasReached { try publish(settings) }
    } catch {
      outcome.failure = error
      if case .denied = error { outcome.wasReached = false }
    }
    if outcome.wasReached {
      outcome.add(producer.closeBlocking(deadline: settings.timeout))
    } else {
      outcome.unacknowledged = UInt64(share.count ?? 0)
    }
    return outcome
  }

  private mutating func publish(_ settings: PublishSettings) throws(BusClientError) {
    let end = settings.duration.map { SystemClock.monotonic() + $0.nanoseconds } ?? .max
    let rate = share.rate.map { SteadyRate($0) }
    var index = 0
    while index < share.count ?? .max, !interruption.isRequested {
      if let rate {
        guard rate.wait(for: UInt64(index), until: end, interruption) else { break }
      } else if index & 63 == 0 {
        // Seldom: the clock costs more than an event does.
        guard SystemClock.monotonic() < end else { break }
      }
      try publishOne(index)
      index += 1
    }
  }

  private mutating func publishOne(_ index: Int) throws(BusClientError) {
    let event = events[index % events.count]
    event.write(id: ids.next(at: .now()), number: index, into: &payload)
    outcome.read += 1
    do throws(BusClientError) {
      try producer.publish(payload: payload, name: event.name)
      outcome.published += 1
    } catch .invalidEvent(let code, let text) {
      outcome.refusedHere += 1
      Terminal.error("event \(index): \(code.rawValue): \(text)")
    }
  }
}
