// How a plan lasts. It is published as `$plan` events like any other, so everybody on the bus can follow
// it, and old segments take it along when they go. Therefore the collector
//   - keeps it in a file of its data directory, which is read at its start, before the bus answers;
//   - publishes it anew when the journal's newest copy lies in the older half of the journal, or is gone.
// Since the highest version counts, a copy more does no harm, nor do several collectors.
internal import BusClient
internal import BusProtocol
internal import EventCodec
internal import EventModel
internal import Primitives
internal import Synchronization
internal import TrackingPlan

/// Follows the plan on the bus, on a thread of its own.
final class PlanKeeper: Sendable {
  /// Events behind the newest copy below which it is not published anew, however short the journal.
  static let minimumDistance: UInt64 = 1000

  private static let echoNanoseconds: Int64 = 10_000_000_000

  private let holder: PlanHolder
  private let producer: Producer
  private let address: String
  /// Nil: the plan is not kept.
  private let directory: String?
  /// Nanoseconds between two looks at where the plan is.
  private let interval: Int64
  private let onTrouble: @Sendable (String) -> Void
  private let isStopping = Atomic(false)

  init(
    _ holder: PlanHolder, producer: Producer, address: String, directory: String?, interval: Int64,
    onTrouble: @escaping @Sendable (String) -> Void
  ) {
    self.holder = holder
    self.producer = producer
    self.address = address
    self.directory = directory
    self.interval = interval
    self.onTrouble = onTrouble
  }

  func start() throws(SystemError) -> OwnedThread {
    readFile()
    return try OwnedThread(name: "eb-plan") { self.run() }
  }

  func stop() { isStopping.store(true, ordering: .relaxed) }

  private func run() {
    do throws(BusClientError) {
      var configuration = SubscriberConfiguration(
        address: address, client: "eventbus collector plan")
      configuration.filters = [NameFilter(.exact, PublishedPlan.eventName.rawValue)]
      configuration.start = .earliest
      configuration.creditEvents = 100
      let subscriber = try Subscriber(configuration)
      defer { subscriber.close() }
      var nextLook = SystemClock.monotonic() + interval
      while !isStopping.load(ordering: .relaxed) {
        if let batch = try subscriber.nextBatch(deadline: .milliseconds(200)) { take(batch) }
        guard SystemClock.monotonic() >= nextLook else { continue }
        nextLook = SystemClock.monotonic() + interval
        // Before the journal was read to its end, what it has is not known.
        let status = subscriber.status
        if let position = status.position, position.offset >= status.head, look() {
          // The copy must come back before its place can be judged.
          nextLook += Self.echoNanoseconds
        }
      }
    } catch {
      onTrouble("the plan is no longer followed: \(error)")
    }
  }

  private func take(_ batch: EventBatch) {
    batch.forEach { place, _, payload in
      guard !place.isAddressed else { return }
      let properties: PropertyObject?
      do throws(CodecError) {
        properties = try EventEnvelope(payload: payload).properties
      } catch {
        properties = nil
      }
      switch holder.take(properties, at: place.position) {
      case .replaced(let plan): writeFile(plan)
      case .refused(let text): onTrouble("a plan on the bus was passed over: \(text)")
      case .partial, .repeated, .older: break
      }
    }
  }

  /// Publishes the plan anew where that is due; true if it did.
  private func look() -> Bool {
    guard let (plan, position) = holder.currentPlace else { return false }
    do throws(BusClientError) {
      var bus = try BusAdministration(address: address)
      bus.deadline = .seconds(2)
      let status = try bus.status()
      let (earliest, head) = (status.number("earliest"), status.number("head"))
      guard Self.mustRepublish(at: position?.offset, earliest: earliest, head: head) else {
        return false
      }
      for event in plan.events { try producer.publish(event) }
      return true
    } catch {
      // The bus is away or full: the next look tries again.
      return false
    }
  }

  /// Whether the newest copy will be gone before long, or is.
  static func mustRepublish(at offset: UInt64?, earliest: UInt64, head: UInt64) -> Bool {
    guard let offset, offset >= earliest else { return true }
    guard head > offset, head - offset >= minimumDistance else { return false }
    return offset - earliest < (head - earliest) / 2
  }

  private var file: String? { directory.map { "\($0)/plan.json" } }

  private func readFile() {
    guard let file else { return }
    do {
      let bytes = try PrivateFile.read(file, limit: PlanLimits.maximumBytes, isSecret: false)
      _ = holder.take(try PublishedPlan(bytes: bytes))
    } catch let error as PrivateFile.Failure where error.isMissing {
      return
    } catch {
      onTrouble("\(file) is not used: \(error)")
    }
  }

  private func writeFile(_ plan: PublishedPlan) {
    guard let directory, let file else { return }
    do {
      try Folders.make(directory, mode: 0o755)
      try PrivateFile.write(plan.bytes, to: file, mode: 0o644)
    } catch {
      onTrouble("the plan is not kept: \(error)")
    }
  }
}
