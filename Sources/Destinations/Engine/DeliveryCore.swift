internal import BusProtocol
public import Hashing
internal import Primitives
public import SinkState

/// Decides what is sent to a destination when, and what becomes of each event.
///
/// No I/O, clock or lock: times are monotonic nanoseconds that the caller gives, randomness is seeded.
/// Holds at most `DeliveryConfiguration.waitingEvents` and `.waitingBytes`, and one event more, if it is
/// given no more than it has room for.
///
/// - Events of one user are delivered in their order; with one request at a time, all are. Users who
///   have to wait are passed by, with all that is theirs.
/// - The cursor passes an event only once it is settled: delivered, dead, forgotten or not meant for this
///   destination. What is under way when the process dies is sent again.
/// - A failure of the destination as a whole keeps the events, without a time bound.
public struct DeliveryCore: Sendable {
  let configuration: DeliveryConfiguration
  let limits: DestinationLimits
  /// By which people are known again.
  let peopleKey: KeyedHash
  var backlog = Backlog()
  var lanes: [Lane]
  var gate: Gate
  var random: SeededRandom
  var progress: SinkProgress
  /// What left the backlog and was not yet taken to be stored.
  var settlement = Settlement()
  var actions: [DeliveryAction] = []
  /// Which lane each request belongs to.
  var underWay: [UInt64: Int] = [:]
  var nextRequest: UInt64 = 1
  var isOpen: Bool
  var isOpening = false
  var isStopping = false
  /// Marks the two halves of one refused request.
  var nextPair = 1
  /// The shorter bound that the destination taught by a 413, and when.
  var learntBytes: (bound: Int, at: Int64)?
  var lastDelivery: Int64?
  /// Dead letters that are being sent again.
  public internal(set) var letters: Set<Int64> = []
  public internal(set) var counts = DeliveryCounts()
  public internal(set) var lastError: (text: String, at: Int64)?

  /// - Parameter needsOpening: wait for ``opened(_:at:)`` before anything is sent.
  public init(
    _ configuration: DeliveryConfiguration, limits: DestinationLimits, progress: SinkProgress,
    peopleKey: KeyedHash, needsOpening: Bool = false, seed: UInt64
  ) {
    let backoff = StepBackoff(base: configuration.retryBase, limit: configuration.retryLimit)
    self.configuration = configuration
    self.limits = limits
    self.peopleKey = peopleKey
    self.progress = progress
    lanes = (0..<max(1, configuration.concurrency)).map { _ in Lane(backoff: backoff) }
    gate = Gate(backoff: backoff)
    random = SeededRandom(seed: seed)
    isOpen = !needsOpening
  }

  /// Whether the next batch of the bus may come.
  public var hasRoom: Bool {
    backlog.count < configuration.waitingEvents && backlog.cost < configuration.waitingBytes
  }

  /// How much may come.
  public var room: (events: Int, bytes: Int) {
    (
      max(0, configuration.waitingEvents - backlog.count),
      max(0, configuration.waitingBytes - backlog.cost)
    )
  }

  /// Requests under way.
  public var requestCount: Int { underWay.count + (isOpening ? 1 : 0) }

  /// Takes a batch of the bus.
  public mutating func take(_ batch: FeedBatch, at now: Int64) {
    if let seek = batch.seek { self.seek(to: seek.to, generation: seek.generation) }
    if let gap = batch.gap { backlog.append(.gap(gap)) }
    for entry in batch.entries {
      switch entry {
      case .event(let event): take(event, at: now)
      case .forget(let mark): forget(mark)
      }
    }
    if let end = batch.end { backlog.append(.reached(end)) }
  }

  /// Takes a dead letter that is to be sent again.
  public mutating func take(letter event: DeliveryEvent, at now: Int64) {
    guard let letter = event.letter, letters.insert(letter).inserted else { return }
    take(event, at: now)
  }

  private mutating func take(_ event: DeliveryEvent, at now: Int64) {
    let number = backlog.append(event)
    if let outcome = event.settled { return count(outcome) }
    let lane = Int(event.key % UInt64(lanes.count))
    if lanes[lane].queue.isEmpty { lanes[lane].queuedSince = now }
    lanes[lane].queue.append(number)
    lanes[lane].queuedBytes += weight(number)
  }

  /// Bytes that an event takes in a request.
  func weight(_ number: Backlog.Number) -> Int {
    backlog.itemBytes(number) + limits.separatorBytes
  }

  /// No request is started any more; those under way may end.
  public mutating func stop() { isStopping = true }

  /// Drops everything that waits: an operator moved the cursor.
  private mutating func seek(to place: Position, generation: UInt64) {
    collect()
    for (id, lane) in underWay {
      actions.append(.cancel(id))
      lanes[lane].current = nil
    }
    underWay = [:]
    backlog.removeAll()
    for index in lanes.indices {
      lanes[index].planned = []
      lanes[index].queue = Queue()
      lanes[index].queuedBytes = 0
      lanes[index].held = [:]
    }
    if !letters.isEmpty { actions.append(.reloadLetters) }
    letters = []
    progress.jump(to: place, .seek)
    progress.seekGeneration = generation
    settlement.count += 1
  }
}
