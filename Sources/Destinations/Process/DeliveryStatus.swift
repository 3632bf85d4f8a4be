public import BusClient
public import Primitives
public import SinkState

/// What a publisher says about itself.
public struct DeliveryStatus: Sendable {
  public var name: String
  public var route: String
  public var state = DeliveryState.opening
  /// How long until the next try, where the state has one.
  public var nextTry: Duration?
  /// Events taken from the bus and not settled.
  public var waitingEvents = 0
  public var waitingBytes = 0
  public var heldUsers = 0
  public var requestsUnderWay = 0
  /// Events of the bus behind the cursor's last committed place, those waiting here included.
  public var lag: UInt64 = 0
  /// When the bus took the oldest event that waits here.
  public var oldestWaiting: Timestamp?
  public var counts = DeliveryCounts()
  /// Events delivered a second, over the last ten seconds.
  public var rate = 0.0
  public var letters = DeadLetters.Totals()
  public var progress: SinkProgress?
  public var lastError: String?
  public var lastErrorAt: Timestamp?
  public var isConnected = false
  /// The connection to the bus, for people.
  public var link = BusLink(address: "")
  public var gaps: UInt64 = 0

  init(name: String, route: String) {
    self.name = name
    self.route = route
  }

  /// How old the oldest waiting event is.
  public func oldestAge(at now: Timestamp) -> Duration? {
    oldestWaiting.map { .nanoseconds(max(0, now.nanoseconds - $0.nanoseconds)) }
  }
}

/// Events a second over the last ten seconds.
struct DeliveryRate {
  private var samples: [(at: Int64, count: UInt64)] = []

  mutating func add(_ count: UInt64, at now: Int64) -> Double {
    samples.append((now, count))
    while samples.count > 2, now - samples[1].at >= 10_000_000_000 { samples.removeFirst() }
    let first = samples[0]
    guard now > first.at else { return 0 }
    return Double(count &- first.count) * 1e9 / Double(now - first.at)
  }
}
