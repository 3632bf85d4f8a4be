import BusProtocol
import EventJournal
import Primitives

@testable import BusBroker
@testable import BusClient

/// One life of a bus, chosen by a seed: producers, a broker on a disk and subscribers in one thread,
/// through broken connections, crashes, a full disk, restarts, seeks and retention, under any durability,
/// and then a calm in which all must come to an end. `JournalOracle` says what must hold whatever happened.
struct BusSimulation {
  private static let stormSteps = 600
  private static let calmSteps = 60_000

  var random: SeededRandom
  var broker: SimulatedBroker
  var producers: [SimulatedProducer]
  var subscribers: [SimulatedSubscriber]
  /// The producers' first, then the subscribers'.
  private var links: [Link] = []
  private var now: Int64 = 1_000_000_000_000
  private var nextPeer: UInt32 = 0
  private var oracle = JournalOracle()
  private(set) var crashes = 0
  private(set) var seeks = 0
  var deletedSegments: Int { broker.deleted }

  init(seed: UInt64, bug: PlantedBug? = nil) {
    var random = SeededRandom(seed: seed)
    broker = SimulatedBroker(using: &random, bug: bug)
    producers = (1...2).map { SimulatedProducer(number: $0, seed: seed &+ UInt64($0), bug: bug) }
    subscribers = [
      SimulatedSubscriber(name: "", wanted: nil, seed: seed &+ 10, bug: bug),
      SimulatedSubscriber(name: "all", wanted: nil, seed: seed &+ 11, bug: bug),
      SimulatedSubscriber(name: "only A", wanted: "A", seed: seed &+ 12, bug: bug),
    ]
    self.random = random
    for _ in 0..<(producers.count + subscribers.count) { links.append(Link(newPeer())) }
  }

  mutating func run() throws {
    try broker.start(at: now, seed: random.next())
    for _ in 0..<Self.stormSteps {
      if Int.random(in: 0..<12, using: &random) == 0 { try strike() } else { try proceed() }
      try settle()
    }
    broker.setRoom(.max)
    if broker.process == nil { try broker.start(at: now, seed: random.next()) }
    var steps = 0
    while !isQuiet {
      steps += 1
      try require(steps < Self.calmSteps, "it does not come to an end: \(whatWaits)")
      try proceed()
      now += 20_000_000
      try settle()
    }
    try oracle.check(broker, producers, subscribers)
    for subscriber in subscribers { try oracle.checkComplete(subscriber) }
  }

  private mutating func newPeer() -> Peer {
    nextPeer += 1
    return Peer(id: nextPeer)
  }

  /// One thing that happens on a good day.
  private mutating func proceed() throws {
    now += Int64.random(in: 0...20_000_000, using: &random)
    let link = Int.random(in: 0..<links.count, using: &random)
    switch Int.random(in: 0..<12, using: &random) {
    case 0, 1, 2:
      if broker.process != nil, let message = links[link].nextUp(using: &random) {
        broker.receive(message, from: links[link].peer, at: now)
      }
    case 3, 4, 5:
      if let message = links[link].nextDown(using: &random) { take(message, from: link) }
    case 6, 7:
      if try !broker.write() { try crash() }
    case 8:
      if broker.isAboutToDelete { try oracle.readJournal(broker) }
      if try !broker.read() { try crash() }
    case 9:
      broker.store()
      try oracle.checkCursors(broker, subscribers)
    default:
      let index = Int.random(in: 0..<subscribers.count, using: &random)
      try subscribers[index].handle(using: &random)
    }
  }

  private mutating func take(_ message: [UInt8], from link: Int) {
    if link < producers.count {
      producers[link].receive(message, at: now)
    } else {
      subscribers[link - producers.count].receive(message, at: now)
    }
  }

  /// One thing that happens in a storm.
  private mutating func strike() throws {
    switch Int.random(in: 0..<40, using: &random) {
    case 0, 1: seek()
    case 2..<24:
      let index = Int.random(in: 0..<producers.count, using: &random)
      if !producers[index].isDone, Bool.random(using: &random) { return }
      producers[index].publish(using: &random)
    case 24..<29:
      let link = Int.random(in: 0..<links.count, using: &random)
      links[link].breakOff(newPeer(), using: &random)
    case 29, 30: broker.setRoom(Int.random(in: 0...1000, using: &random))
    case 31, 32: broker.setRoom(.max)
    case 33: broker.stopSoon(using: &random)
    case 34, 35: try crash()
    case 36:
      if broker.process != nil {
        try stop()
        try broker.start(at: now, seed: random.next())
      }
    case 37:
      let index = Int.random(in: 1..<subscribers.count, using: &random)
      links[producers.count + index].replace(newPeer())
      subscribers[index].crash(seed: random.next())
    default: now += Int64.random(in: 0...12_000_000_000, using: &random)
    }
  }

  /// An operator moves a named subscriber back, or to where it is: further on it would miss events.
  private mutating func seek() {
    let index = Int.random(in: 1..<subscribers.count, using: &random)
    guard subscribers[index].knowsItsSeek else { return }
    let earliest = broker.process?.journal.earliest ?? 0
    let reached = max(earliest, subscribers[index].handledSinceSeek.offset)
    let offset = UInt64.random(in: earliest...reached, using: &random)
    let name = subscribers[index].name
    let known = broker.process?.core.cursors[Array(name.utf8)]?.seekGeneration
    guard let sought = broker.seek(name, to: offset, at: now), sought.generation != known else {
      return
    }
    subscribers[index].sought(sought.cursor, generation: sought.generation)
    seeks += 1
  }

  private mutating func crash() throws {
    crashes += 1
    broker.crash(using: &random)
    for index in links.indices { links[index].breakOff(newPeer(), using: &random) }
    now += Int64.random(in: 0...3_000_000_000, using: &random)
    try broker.start(at: now, seed: random.next())
    for index in subscribers.indices {
      let stored = broker.cursors[Array(subscribers[index].name.utf8)]?.seekGeneration ?? 0
      if stored < subscribers[index].generation { subscribers[index].lostSeek(generation: stored) }
    }
    try oracle.check(broker, producers, subscribers)
  }

  private mutating func stop() throws {
    var sent: [(Peer, [UInt8])] = []
    try broker.stop(at: now) { peer, message in
      sent.append((peer, message))
      return true
    }
    for (peer, message) in sent { _ = send(message, to: peer) }
    for index in links.indices { links[index].breakOff(newPeer(), using: &random) }
  }

  private mutating func send(_ message: [UInt8], to peer: Peer) -> Bool {
    guard let index = links.firstIndex(where: { $0.peer == peer }) else {
      // The broker may not know yet that the connection is gone.
      return Bool.random(using: &random)
    }
    links[index].sendDown(message)
    return true
  }

  /// Everybody's own turn.
  private mutating func settle() throws {
    var broker = broker
    try broker.turn(at: now) { send($1, to: $0) }
    self.broker = broker
    for index in producers.indices {
      var next = nextPeer
      try producers[index].step(&links[index], at: now) {
        next += 1
        return Peer(id: next)
      }
      nextPeer = next
    }
    for index in subscribers.indices {
      var next = nextPeer
      try subscribers[index].step(&links[producers.count + index], at: now) {
        next += 1
        return Peer(id: next)
      }
      nextPeer = next
    }
  }

  private var isQuiet: Bool {
    guard let head = broker.process?.core.journal.durableHead else { return false }
    return producers.allSatisfy(\.isDone) && subscribers.allSatisfy { $0.isDone(at: head) }
  }

  private var whatWaits: String {
    let head = broker.process?.core.journal.durableHead ?? 0
    let queues = producers.map { "\($0.core.queue.count) batches, \($0.core.phase)" }
    let places = subscribers.map { "\($0.handledTo.offset) of \(head), \($0.core.phase)" }
    return "\(queues) \(places)"
  }
}
