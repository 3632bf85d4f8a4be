import BusProtocol
import Hashing
import Primitives
import SinkState

@testable import Destinations

/// A core, the numbers of the events in each request it makes, and a clock to move.
struct CoreTrial {
  static let second: Int64 = 1_000_000_000
  var core: DeliveryCore
  var now: Int64 = 0
  var fed: UInt64 = 0
  var reports: [DeliveryReport] = []
  var cancelled: [UInt64] = []

  init(
    _ change: (inout DeliveryConfiguration) -> Void = { _ in }, events: Int = 100,
    requestBytes: Int = 10_000, needsOpening: Bool = false
  ) {
    var configuration = DeliveryConfiguration()
    configuration.linger = .zero
    change(&configuration)
    core = DeliveryCore(
      configuration,
      limits: DestinationLimits(
        events: events, requestBytes: requestBytes, itemBytes: 1000, headBytes: 10),
      progress: SinkProgress(start: Position(epoch: 1, offset: 0)),
      peopleKey: DeliverySimulation.key, needsOpening: needsOpening, seed: 1)
  }

  /// Feeds events of these users, each with an item that is its number and `bytes` long.
  mutating func feed(_ users: [UInt64], bytes: Int = 8, settled: DeliveryOutcome? = nil) {
    var entries: [FeedBatch.Entry] = []
    for user in users {
      entries.append(.event(Self.event(fed, user: user, bytes: bytes, settled: settled)))
      fed += 1
    }
    core.take(FeedBatch(entries: entries, end: Position(epoch: 1, offset: fed)), at: now)
  }

  static func event(
    _ number: UInt64, user: UInt64, bytes: Int = 8, letter: Int64? = nil,
    settled: DeliveryOutcome? = nil
  ) -> DeliveryEvent {
    var item: [UInt8] = []
    item.appendBigEndian(number)
    item += [UInt8](repeating: 0, count: bytes - 8)
    return DeliveryEvent(
      EventSource(
        position: letter == nil ? Position(epoch: 1, offset: number) : nil,
        received: Timestamp(nanoseconds: 0)),
      letter: letter, key: user, payload: [0x80], item: item, settled: settled)
  }

  /// The requests made now: id and numbers.
  mutating func requests() -> [(id: UInt64, events: [UInt64])] {
    var requests: [(UInt64, [UInt64])] = []
    for action in core.advance(at: now) {
      switch action {
      case .send(let request):
        let numbers = request.items.map { item in
          unsafe item.span.bytes.bigEndian(at: 0, as: UInt64.self)
        }
        requests.append((request.id, numbers))
      case .report(let report): reports.append(report)
      case .cancel(let id): cancelled.append(id)
      case .open, .reloadLetters: break
      }
    }
    return requests
  }

  /// The events of the one request made now; nil when there is none.
  mutating func request(_ verdict: DeliveryVerdict? = nil) -> [UInt64]? {
    guard let request = requests().first else { return nil }
    if let verdict {
      core.finish(request.id, verdict, DeliveryAnswer(status: 0, reason: "x"), at: now)
    }
    return request.events
  }

  /// Moves to the moment at which the core has something to do; returns how far that was.
  mutating func wait() -> Int64 {
    let wait = core.nextDue - now
    now = core.nextDue
    return wait
  }

  mutating func settlement() -> Settlement? { core.takeSettlement() }
  var cursor: UInt64 { core.progress.cursor.offset }
}
