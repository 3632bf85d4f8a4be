/// What one producer or subscriber of a load test is told. Each is a process of its own: they share no
/// lock, allocator or socket thread, as in real use, and the kernel counts the CPU of each.
public struct WorkerSettings: Sendable {
  public enum Mode: String, Sendable {
    /// Acknowledged on disk, read from a cursor.
    case durable
    /// The same publishing, read from the live feed.
    case live
  }

  public var bus: String
  /// Tells the events of this test from all others.
  public var run: UInt64
  public var mode: Mode
  /// Of the producer or subscriber, from 0.
  public var index: Int
  public var producers: Int
  /// Bytes of an event.
  public var size: Int
  /// Most events in a batch of the producer.
  public var batch: Int
  public var rate: Double?
  public var events: UInt64?
  public var duration: Duration?
  public var warmUp: Duration
  /// Behind its schedule by more than this, a producer stops. Nil: never.
  public var giveUpBehind: Duration?
  /// Where a durable subscriber begins.
  public var fromOffset: UInt64
  /// Whether the events go to the test's own subscribers alone.
  public var isAddressed: Bool
  public var subscribers: Int
  /// How long to wait for the bus, and at the end for its acknowledgements.
  public var timeout: Duration

  public init(bus: String, run: UInt64, mode: Mode, index: Int) {
    self.bus = bus
    self.run = run
    self.mode = mode
    self.index = index
    producers = 1
    size = 200
    batch = 500
    warmUp = .zero
    fromOffset = 0
    isAddressed = false
    subscribers = 1
    timeout = .seconds(10)
  }

  /// The name under which the broker knows a subscriber of the test.
  public func subscriberName(_ index: Int) -> String {
    "load-test-\(String(run, radix: 16))-\(index)"
  }
}

/// How a worker hears and speaks while it runs.
public struct WorkerHooks: Sendable {
  /// Everything is in place: the next event counts.
  public var ready: @Sendable () -> Void
  /// Events so far, about every 100 ms.
  public var progress: @Sendable (UInt64) -> Void
  /// Whether it is to end now.
  public var isStopped: @Sendable () -> Bool

  public init(
    ready: @escaping @Sendable () -> Void, progress: @escaping @Sendable (UInt64) -> Void,
    isStopped: @escaping @Sendable () -> Bool
  ) {
    self.ready = ready
    self.progress = progress
    self.isStopped = isStopped
  }
}

/// Why a worker could not do its part.
public struct LoadTestError: Error, Hashable, Sendable, CustomStringConvertible {
  public var text: String
  /// The bus did not answer at all.
  public var isUnreachable: Bool

  public init(_ text: String, isUnreachable: Bool = false) {
    self.text = text
    self.isUnreachable = isUnreachable
  }

  public var description: String { text }
}
