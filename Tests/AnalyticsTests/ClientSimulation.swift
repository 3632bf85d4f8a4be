import Primitives
import Testing

@testable import Analytics

/// The core, a store, a network and a server, by seeds: faults of all kinds, kills, a store that fails.
/// Whatever happens, what the server took is in order, nothing is lost but what was counted, and nothing
/// comes twice but what a fault cut off after the server had it.
@Suite struct ClientSimulation {
  /// What is outside the core.
  private struct World {
    var random: SeededRandom
    var core: AnalyticsClientCore
    var disk: [Int64: [UInt8]] = [:]
    var hasWorkingDisk = true
    /// What the server took, in its order; numbers stand in the bodies.
    var taken: [Int] = []
    /// Numbers whose answer was lost, so that they may come twice.
    var doubtful: Set<Int> = []
    var refused: Set<Int> = []
    /// Numbers that were never on disk when the process was killed.
    var lostAtKill: Set<Int> = []
    var tracked = 0
    var now: Int64 = 0
    var underWay: (events: [QueuedEvent], attempt: Int)?

    mutating func chance(_ percent: UInt64) -> Bool { random.next() % 100 < percent }
  }

  private static func configuration() -> AnalyticsClientConfiguration {
    var configuration = AnalyticsClientConfiguration(endpoint: "http://server/")
    configuration.requestEvents = 8
    configuration.flushCount = 5
    return configuration
  }

  private static func number(_ body: [UInt8]) -> Int { Int(String(decoding: body, as: UTF8.self))! }

  @Test(arguments: 1...200)
  func `order is kept and everything is accounted for`(_ seed: UInt64) {
    var world = World(
      random: SeededRandom(seed: seed), core: AnalyticsClientCore(Self.configuration()))
    world.core.storeOpened()
    for _ in 0..<400 { step(&world) }
    // Now everything works, and time passes.
    world.hasWorkingDisk = true
    for _ in 0..<200 {
      world.now += 400_000_000_000
      act(&world)
      answer(&world, faults: false)
    }
    check(world, seed)
  }

  private func step(_ world: inout World) {
    switch world.random.next() % 10 {
    case 0..<4:
      world.tracked += 1
      world.core.append(Array("\(world.tracked)".utf8), at: world.now)
    case 4: world.now += Int64(world.random.next() % 40) * 1_000_000_000
    case 5 where world.chance(10): kill(&world)
    case 6 where world.chance(20): world.hasWorkingDisk.toggle()
    case 7: world.core.flush(world.tracked)
    case 8: answer(&world, faults: true)
    default: act(&world)
    }
  }

  private func act(_ world: inout World) {
    for action in world.core.actions(at: world.now) {
      switch action {
      case .store(let save, let delete):
        guard world.hasWorkingDisk else {
          world.core.storeFailed("no disk", at: world.now)
          continue
        }
        for range in delete { for id in world.disk.keys where range ~= id { world.disk[id] = nil } }
        for event in save {
          #expect(world.disk[event.id] == nil)
          world.disk[event.id] = event.body
        }
        world.core.stored()
      case .send(let events, let attempt):
        #expect(world.underWay == nil, "two requests at once")
        #expect(!events.isEmpty && events.count <= 8)
        world.underWay = (events, attempt)
      case .answer: break
      }
    }
  }

  /// The server takes a batch, or does not, and the answer arrives, or does not.
  private func answer(_ world: inout World, faults: Bool) {
    guard let (events, attempt) = world.underWay else { return }
    world.underWay = nil
    let numbers = events.map { Self.number($0.body) }
    let fault = faults ? world.random.next() % 8 : 7
    var outcome = RequestOutcome.delivered(refused: [:])
    switch fault {
    case 0: outcome = .failed("no network", wait: nil)
    case 1: outcome = .failed("HTTP 429", wait: .seconds(7))
    case 2: outcome = .misconfigured("HTTP 401")
    case 3:
      // It has the batch; the answer is lost.
      take(numbers, &world)
      world.doubtful.formUnion(numbers)
      outcome = .failed("reset", wait: nil)
    case 4 where numbers.contains(where: { $0 % 17 == 0 }):
      if numbers.count == 1 { world.refused.formUnion(numbers) }
      outcome = .rejected("HTTP 400")
    case 5 where numbers.count > 3: outcome = .tooLarge("HTTP 413")
    case 6:
      world.refused.insert(numbers[0])
      take(Array(numbers.dropFirst()), &world)
      outcome = .delivered(refused: [0: "BAD"])
    default: take(numbers, &world)
    }
    world.core.finish(outcome, attempt: attempt, at: world.now, random: &world.random)
  }

  /// What it refused once, it refuses whenever it comes.
  private func take(_ numbers: [Int], _ world: inout World) {
    world.taken += numbers.filter { !world.refused.contains($0) }
  }

  /// The process ends at once; another begins with what is on disk.
  private func kill(_ world: inout World) {
    let waiting = world.core.queue.after(.min)
    for event in waiting where world.disk[event.id] == nil {
      world.lostAtKill.insert(Self.number(event.body))
    }
    // What was delivered and is still on disk comes again.
    let onDisk = world.disk.sorted { $0.key < $1.key }
    world.doubtful.formUnion(onDisk.map { Self.number($0.value) })
    if let (events, _) = world.underWay, world.chance(50) {
      take(events.map { Self.number($0.body) }, &world)
    }
    if let (events, _) = world.underWay {
      world.doubtful.formUnion(events.map { Self.number($0.body) })
    }
    world.underWay = nil
    world.core = AnalyticsClientCore(
      Self.configuration(), firstID: Int64(world.tracked) * 1000 + 1_000_000)
    world.hasWorkingDisk = true
    world.core.restore(onDisk.map { QueuedEvent(id: $0.key, body: $0.value) })
    world.core.storeOpened()
  }

  private func check(_ world: World, _ seed: UInt64) {
    let first = Dictionary(
      world.taken.enumerated().map { ($0.element, $0.offset) }, uniquingKeysWith: min)
    let counts = Dictionary(grouping: world.taken, by: \.self).mapValues(\.count)
    for number in 1...max(1, world.tracked) where counts[number] == nil {
      #expect(
        world.refused.contains(number) || world.lostAtKill.contains(number),
        "seed \(seed): \(number) is lost")
    }
    for (number, count) in counts where count > 1 {
      #expect(world.doubtful.contains(number), "seed \(seed): \(number) came \(count) times")
    }
    let order = first.sorted { $0.value < $1.value }.map(\.key)
    #expect(order == order.sorted(), "seed \(seed)")
    #expect(world.core.status.waiting == 0 && world.disk.isEmpty, "seed \(seed)")
    let status = world.core.status
    #expect(
      status.restored + status.tracked == status.delivered + status.refused + status.shed
        + status.erased + status.waiting, "seed \(seed)")
  }
}
