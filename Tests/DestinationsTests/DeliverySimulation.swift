import BusProtocol
import Hashing
import Primitives
import SinkState

@testable import Destinations

struct SimulationFailure: Error, CustomStringConvertible {
  var description: String
}

/// The engine's core and a model destination in virtual time: feeds events, crashes and starts again
/// from what was stored, and holds the results to what must be true.
struct DeliverySimulation {
  struct Reply {
    var at: Int64
    var id: UInt64
    var fate: ModelDestination.Fate
  }

  static let key = KeyedHash(key: [UInt8](repeating: 7, count: KeyedHash.keyBytes))
  let seed: UInt64
  let events: Int
  let users: Int
  var random: SeededRandom
  var destination: ModelDestination
  var configuration = DeliveryConfiguration()
  let limits: DestinationLimits
  var core: DeliveryCore
  var now: Int64 = 0
  var replies: [Reply] = []
  var fed = 0
  /// What a crash leaves.
  var durable = SinkProgress(start: Position(epoch: 1, offset: 0))
  var letters: [Int: Refusal] = [:]
  var maximumWaiting = 0
  var starts = 1

  init(seed: UInt64) {
    self.seed = seed
    random = SeededRandom(seed: seed &* 0x9E37_79B9)
    events = Int.random(in: 1...300, using: &random)
    users = Int.random(in: 1...20, using: &random)
    destination = ModelDestination(seed: seed, events: events)
    configuration.concurrency = Int.random(in: 0..<2, using: &random) == 0 ? 1 : 4
    configuration.suspectTries = 4
    configuration.suspectAfter = .seconds(30)
    configuration.loneFailureLimit = .seconds(36_000)
    configuration.blockingLimit = .seconds(1800)
    configuration.waitingEvents = 150
    limits = DestinationLimits(
      events: Int.random(in: 1...60, using: &random), requestBytes: 4000, itemBytes: 200,
      headBytes: 20)
    core = DeliveryCore(
      configuration, limits: limits, progress: durable, peopleKey: Self.key, seed: seed)
  }

  func user(_ number: Int) -> Int { Int((UInt64(number) &* 0x9E37_79B9_7F4A_7C15) >> 40) % users }

  func skips(_ number: Int) -> Bool { number % 17 == 3 }

  /// An item is the event's number and padding that depends on it.
  func event(_ number: Int, letter: Int64? = nil) -> DeliveryEvent {
    var item: [UInt8] = []
    item.appendBigEndian(UInt64(number))
    item += [UInt8](repeating: 0x20, count: number * 37 % 150)
    return DeliveryEvent(
      EventSource(
        position: letter == nil ? Position(epoch: 1, offset: UInt64(number)) : nil,
        received: Timestamp(nanoseconds: 0)),
      letter: letter, key: UInt64(user(number) + 1), payload: [0x80], item: item,
      settled: skips(number) ? .skipped : nil)
  }

  mutating func run() throws(SimulationFailure) {
    var steps = 0
    while true {
      steps += 1
      guard steps < 100_000 else { throw failure("no end after \(steps) steps") }
      feed()
      try perform(core.advance(at: now))
      try store()
      if fed == events, core.waitingEvents == 0, !core.hasSettled { break }
      if onlySuspectsAreLeft { destination.crashing = [] }
      if Int.random(in: 0..<400, using: &random) == 0 { crash() }
      if fed < events, core.hasRoom { continue }
      try moveOn()
    }
    try check()
    try redrive()
  }

  /// Nothing else gets through any more, so for all the engine knows the destination is down: it would
  /// wait for ever.
  private var onlySuspectsAreLeft: Bool {
    guard fed == events, !destination.crashing.isEmpty, now > destination.outages.last?.to ?? 0
    else { return false }
    let left = Set(0..<events).subtracting(destination.stored)
    let suspects = Set(left.filter { destination.crashing.contains($0) }.map { user($0) })
    return left.allSatisfy {
      suspects.contains(user($0)) || skips($0) || letters[$0] != nil
        || destination.bad.contains($0)
    }
  }

  private mutating func feed() {
    while fed < events, core.hasRoom {
      let count = min(events - fed, Int.random(in: 1...50, using: &random))
      let batch = FeedBatch(
        entries: (fed..<fed + count).map { .event(event($0)) },
        end: Position(epoch: 1, offset: UInt64(fed + count)))
      core.take(batch, at: now)
      fed += count
    }
    maximumWaiting = max(maximumWaiting, core.waitingEvents)
  }

  private mutating func perform(_ actions: [DeliveryAction]) throws(SimulationFailure) {
    for action in actions {
      guard case .send(let request) = action else { continue }
      let numbers = request.items.map { item in
        unsafe Int(item.span.bytes.bigEndian(at: 0, as: UInt64.self))
      }
      let bytes = request.items.reduce(limits.headBytes) { $0 + $1.count } + request.items.count - 1
      guard numbers.count <= limits.events, bytes <= limits.requestBytes || numbers.count == 1
      else { throw failure("\(numbers.count) events of \(bytes) bytes in one request") }
      let users = users
      let fate = destination.take(
        numbers, bytes: bytes,
        user: { Int((UInt64($0) &* 0x9E37_79B9_7F4A_7C15) >> 40) % users }, at: now)
      let latency = Int64.random(in: 1_000_000...300_000_000, using: &random)
      replies.append(Reply(at: now + latency, id: request.id, fate: fate))
    }
  }

  /// Goes to the next moment at which something happens.
  private mutating func moveOn() throws(SimulationFailure) {
    let nextReply = replies.map(\.at).min() ?? .max
    let next = max(now, min(nextReply, core.nextDue))
    guard next < .max else { throw failure("waits for ever with \(core.waitingEvents) events") }
    // The clock may be seen a little late, never early.
    now = next
    let due = replies.filter { $0.at <= now }
    replies.removeAll { $0.at <= now }
    for reply in due {
      switch reply.fate {
      case .answer(let verdict, let status):
        if case .pause(let wait?, _) = verdict { destination.closedUntil = now + wait.nanoseconds }
        core.finish(
          reply.id, verdict, DeliveryAnswer(status: status, text: "x", reason: "HTTP \(status)"),
          at: now)
      case .noAnswer(let unreachable):
        core.fail(reply.id, "no answer", isUnreachable: unreachable, at: now)
      }
    }
  }

  private mutating func store() throws(SimulationFailure) {
    guard let settlement = core.takeSettlement(), let progress = settlement.progress else { return }
    for (event, refusal) in settlement.letters {
      letters[Int(event.source.position?.offset ?? 0)] = refusal
    }
    guard progress.ledger.isBalanced(at: progress.cursor) else {
      throw failure("the ledger does not add up: \(progress.ledger) at \(progress.cursor)")
    }
    durable = progress
    let stored = Set(destination.stored)
    for number in 0..<Int(progress.cursor.offset)
    where !stored.contains(number) && letters[number] == nil && !skips(number) {
      throw failure("the cursor passed \(number), which is neither stored nor a dead letter")
    }
  }

  private mutating func crash() {
    starts += 1
    replies = []
    // A new process knows nothing of what the old one was told.
    destination.closedUntil = 0
    fed = Int(durable.cursor.offset)
    core = DeliveryCore(
      configuration, limits: limits, progress: durable, peopleKey: Self.key,
      seed: seed &+ UInt64(starts))
  }

  private func check() throws(SimulationFailure) {
    guard destination.faults.isEmpty else { throw failure(destination.faults[0]) }
    let expectedDead = Set(
      (0..<events).filter {
        destination.bad.contains($0) && !skips($0)
      })
    let dead = Set(letters.keys)
    guard expectedDead.isSubset(of: dead) else { throw failure("bad events got through") }
    let lone = destination.everCrashing.filter { !skips($0) }
    // Events that do fail alone may take others with them when an outage comes on top.
    let others = dead.subtracting(expectedDead).subtracting(lone)
    guard others.allSatisfy({ letters[$0]?.origin == .failing && !lone.isEmpty }) else {
      throw failure("good events are dead: \(others)")
    }
    guard durable.cursor.offset == UInt64(events),
      durable.ledger.dead == UInt64(dead.count),
      durable.ledger.notMatched == UInt64((0..<events).filter(skips).count),
      durable.ledger.applied == UInt64(events) - durable.ledger.dead - durable.ledger.notMatched
    else { throw failure("ledger \(durable.ledger) for \(events) events, dead \(dead.count)") }
    try checkOrder(upTo: destination.stored.count)
    guard maximumWaiting <= configuration.waitingEvents + 50 else {
      throw failure("\(maximumWaiting) events waited")
    }
    // Each event may need some requests of its own; else time alone brings more.
    let most = events * 12 * starts + Int(now / 1_000_000_000) + 100
    guard destination.requests <= most else {
      throw failure("\(destination.requests) requests in \(now / 1_000_000_000) s")
    }
  }

  /// Each user's events are stored for the first time in their order.
  private func checkOrder(upTo count: Int) throws(SimulationFailure) {
    var last: [Int: Int] = [:]
    var seen: Set<Int> = []
    // That one is dead can be forgotten by a crash, after later ones got through.
    let free = starts > 1 ? destination.everCrashing : []
    for number in destination.stored[..<count]
    where !free.contains(number) && seen.insert(number).inserted {
      if let before = last[user(number)], before > number {
        throw failure("user \(user(number)): \(number) after \(before)")
      }
      last[user(number)] = number
    }
  }

  /// What was dead gets through once the fault is mended.
  private mutating func redrive() throws(SimulationFailure) {
    destination.mend()
    for number in letters.keys.sorted() {
      core.take(letter: event(number, letter: Int64(number)), at: now)
    }
    var left = Set(letters.keys)
    for _ in 0..<10_000 where !left.isEmpty {
      try perform(core.advance(at: now))
      if let settlement = core.takeSettlement() {
        for (letter, outcome) in settlement.redriven where outcome == .delivered {
          left.remove(Int(letter))
        }
        durable = settlement.progress ?? durable
      }
      if !left.isEmpty { try moveOn() }
    }
    guard left.isEmpty, durable.ledger.dead == 0,
      durable.ledger.isBalanced(at: durable.cursor)
    else { throw failure("letters \(left) are left; \(durable.ledger)") }
  }

  func failure(_ text: String) -> SimulationFailure {
    SimulationFailure(description: "seed \(seed): \(text)")
  }
}
