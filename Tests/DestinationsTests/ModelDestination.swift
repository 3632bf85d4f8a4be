import Primitives

@testable import Destinations

/// A destination in memory that plays the faults of real ones by a seed, and knows what it has stored.
struct ModelDestination {
  enum Fate {
    /// After this time.
    case answer(DeliveryVerdict, status: Int)
    case noAnswer(unreachable: Bool)
  }

  /// Those of the beginning.
  private(set) var everCrashing: Set<Int> = []
  /// How it refuses bad events.
  enum Manner: CaseIterable { case whole, partial, listed }

  struct Outage {
    enum Kind: CaseIterable { case unreachable, broken, busy, busyFor, absurd, atOnce, locked }
    var from: Int64
    var to: Int64
    var kind: Kind
  }

  /// Refused whenever they are sent.
  var bad: Set<Int> = []
  /// Bring the server down whenever they are sent.
  var crashing: Set<Int> = []
  var manner = Manner.whole
  /// Bytes of items in one request; nil: no bound but the announced one.
  var most: Int?
  /// Requests out of a hundred that are stored and get no answer, fail by 500, or hit a user's quota.
  var lost = 0
  var failing = 0
  var quota = 0
  var outages: [Outage] = []
  /// Nobody may ask before this time.
  var closedUntil: Int64 = 0
  private(set) var faults: [String] = []
  /// Numbers in the order in which they were stored, doubles included.
  private(set) var stored: [Int] = []
  private(set) var requests = 0
  private var random: SeededRandom

  init(seed: UInt64, events: Int) {
    random = SeededRandom(seed: seed)
    func some(_ share: Int) -> Set<Int> {
      guard Int.random(in: 0..<3, using: &random) == 0 else { return [] }
      return Set((0..<events).filter { _ in Int.random(in: 0..<share, using: &random) == 0 })
    }
    bad = some(40)
    crashing = Int.random(in: 0..<4, using: &random) == 0 ? some(120).subtracting(bad) : []
    everCrashing = crashing
    manner = Manner.allCases.randomElement(using: &random) ?? .whole
    if Int.random(in: 0..<4, using: &random) == 0 {
      most = Int.random(in: 100...2000, using: &random)
    }
    lost = Int.random(in: 0..<20, using: &random)
    failing = Int.random(in: 0..<20, using: &random)
    quota = Int.random(in: 0..<10, using: &random)
    var time: Int64 = 0
    for _ in 0..<Int.random(in: 0..<4, using: &random) {
      let from = time + Int64.random(in: 0..<200_000_000_000, using: &random)
      time = from + Int64.random(in: 0..<7_200_000_000_000, using: &random)
      let kind = Outage.Kind.allCases.randomElement(using: &random) ?? .broken
      outages.append(Outage(from: from, to: time, kind: kind))
    }
  }

  /// All faults are over.
  mutating func mend() {
    bad = []
    crashing = []
    lost = 0
    failing = 0
    quota = 0
    outages = []
    closedUntil = 0
  }

  mutating func take(_ numbers: [Int], bytes: Int, user: (Int) -> Int, at now: Int64) -> Fate {
    requests += 1
    if now < closedUntil {
      faults.append("asked \(closedUntil - now) ns before the time it was told")
    }
    if let outage = outages.first(where: { $0.from <= now && now < $0.to }) {
      return play(outage.kind, at: now)
    }
    if let most, bytes > most, numbers.count > 1 {
      return .answer(.tooLarge("too large"), status: 413)
    }
    if numbers.contains(where: crashing.contains) {
      return .answer(.retry("server error"), status: 500)
    }
    if chance(failing) { return .answer(.retry("server error"), status: 503) }
    if chance(quota), let victim = numbers.randomElement(using: &random) {
      let items = numbers.indices.filter { user(numbers[$0]) == user(victim) }
      return .answer(.hold(items: items, for: .seconds(30), "quota"), status: 429)
    }
    let refused = numbers.indices.filter { bad.contains(numbers[$0]) }
    guard !refused.isEmpty else { return store(numbers) }
    let reasons = Dictionary(uniqueKeysWithValues: refused.map { ($0, "bad event") })
    switch manner {
    case .whole: return .answer(.split("one is bad"), status: 400)
    case .listed: return .answer(.refusedOnly(these: reasons), status: 400)
    case .partial:
      stored += numbers.filter { !bad.contains($0) }
      return .answer(.partial(refused: reasons), status: 400)
    }
  }

  private mutating func store(_ numbers: [Int]) -> Fate {
    stored += numbers
    return chance(lost) ? .noAnswer(unreachable: false) : .answer(.delivered, status: 200)
  }

  private mutating func play(_ kind: Outage.Kind, at now: Int64) -> Fate {
    switch kind {
    case .unreachable: return .noAnswer(unreachable: true)
    case .broken: return .answer(.retry("outage"), status: 500)
    case .busy: return .answer(.pause(nil, "busy"), status: 429)
    case .busyFor: return .answer(.pause(.seconds(5), "busy"), status: 429)
    case .absurd:
      let wait = RetryAfter.duration("1000000000", at: Timestamp(nanoseconds: 0))
      return .answer(.pause(wait, "busy"), status: 503)
    case .atOnce: return .answer(.pause(.zero, "busy"), status: 429)
    case .locked: return .answer(.configuration("wrong key"), status: 401)
    }
  }

  private mutating func chance(_ percent: Int) -> Bool {
    Int.random(in: 0..<100, using: &random) < percent
  }
}
