/// What a collector has done since it started.
public struct CollectorMetrics: Sendable {
  public struct Labelled: Hashable, Sendable {
    public var route: String
    /// A status, or an event's verdict.
    public var what: String
    public init(_ route: String, _ what: String) {
      self.route = route
      self.what = what
    }
  }

  /// Answers by route and status.
  public internal(set) var requests: [Labelled: UInt64] = [:]
  /// Events by route and verdict: STORED, or why not.
  public internal(set) var events: [Labelled: UInt64] = [:]
  /// Requests that wait for the bus.
  public internal(set) var waiting = 0
  /// Bytes of bodies as they were sent.
  public internal(set) var bodyBytes: UInt64 = 0
  public internal(set) var isBusConnected = false
  /// Why new events are refused; empty while they are taken.
  public internal(set) var trouble = ""

  public internal(set) var plan = Plan()

  /// The tracking plan, and what it did to events with raw paths.
  public struct Plan: Hashable, Sendable {
    /// 0: there is none.
    public internal(set) var version = 0
    public internal(set) var mapped: UInt64 = 0
    /// Stored as they came; somebody should map them.
    public internal(set) var unmapped: UInt64 = 0
    /// Refused, since nothing may be reported from there.
    public internal(set) var excluded: UInt64 = 0
    /// Events of the bus that were no plan or a broken one.
    public internal(set) var refused: UInt64 = 0
    /// Different unmapped paths, 10,000 at most.
    public internal(set) var unmappedPaths = 0
  }

  public init() {}

  /// Verdicts are few, and routes as well; a code that a later broker invents is one more.
  mutating func count(_ counts: [String: Int], on route: String) {
    for (verdict, count) in counts { events[Labelled(route, verdict), default: 0] += UInt64(count) }
  }

  public var stored: UInt64 { total { $0 == "STORED" } }
  public var refused: UInt64 { total { $0 != "STORED" } }

  private func total(_ isWanted: (String) -> Bool) -> UInt64 {
    events.reduce(0) { isWanted($1.key.what) ? $0 + $1.value : $0 }
  }
}
