public import Analytics
public import BusClient
internal import Database
internal import Primitives
internal import Synchronization

/// Delivers an ``Analytics/AnalyticsService``'s events to the bus, without a collector in between: for
/// programs that run beside the broker. Phones use ``Analytics/AnalyticsClient``.
///
/// ```swift
/// let bus = try BusProvider(ProducerConfiguration(address: "tcp://127.0.0.1:7400", client: "kiosk"))
/// let analytics = try AnalyticsService(providers: [bus])
/// ```
/// An event that the producer does not take, since it is full or closed, is counted and gone: give it a
/// spool (`ProducerOverflow.spill`) to have the disk take what memory does not.
public final class BusProvider: AnalyticsProvider {
  /// What became of the events that were delivered to it.
  public struct Counters: Sendable, Hashable {
    /// By the producer.
    public var taken = 0
    /// Not taken by it.
    public var dropped = 0
    /// Taken, and forgotten by `erase` before the broker had acknowledged them.
    public var erased = 0
    /// Why the latest one was dropped.
    public var lastFailure: BusClientError?
  }

  /// By which plugins name it.
  public let name: String
  private let configuration: ProducerConfiguration
  private let flushDeadline: Duration
  private let state: Mutex<State>

  private struct State {
    var producer: Producer
    var counters = Counters()
  }

  /// - Parameters:
  ///   - configuration: `overflow` becomes `.throw` where it is `.block`: no app waits for its analytics.
  ///   - flushDeadline: how long `flush` waits for acknowledgements.
  /// - Throws: as ``BusClient/Producer`` does.
  public init(
    _ configuration: ProducerConfiguration, name: String = "bus",
    flushDeadline: Duration = .seconds(10)
  ) throws(BusClientError) {
    var configuration = configuration
    if configuration.overflow == .block { configuration.overflow = .throw }
    self.configuration = configuration
    state = Mutex(State(producer: try Producer(configuration)))
    self.name = name
    self.flushDeadline = flushDeadline
  }

  /// Counts up to now.
  public var counters: Counters { state.withLock { $0.counters } }

  /// For its counters and its denial; ``Analytics/AnalyticsService`` stamps events, so its identity is not
  /// used. Another one after `erase`.
  public var producer: Producer { state.withLock { $0.producer } }

  /// Hands the event to the producer; never blocks.
  public func deliver(_ event: StampedEvent) {
    do throws(BusClientError) {
      try producer.publish(payload: event.payload, name: Array(event.topic.utf8))
      state.withLock { $0.counters.taken += 1 }
    } catch {
      state.withLock { state in
        state.counters.dropped += 1
        state.counters.lastFailure = error
      }
    }
  }

  /// Waits until what was delivered is durable at the broker.
  @discardableResult
  public func flush() async -> AnalyticsFlushResult {
    let result = await producer.flush(deadline: flushDeadline)
    return AnalyticsFlushResult(
      waiting: Int(clamping: result.unacknowledged),
      failure: result.isComplete ? nil : result.failure?.description ?? "not acknowledged in time")
  }

  /// Forgets what the broker has not acknowledged, in memory and in the spool, by ending the producer and
  /// beginning another. What is on its way at this moment may arrive; what has arrived is erased at the bus:
  /// `eventbus archive forget`. Takes up to a second.
  public func erase() async {
    let left = await producer.close(deadline: .zero)
    if case .spill(let path, _) = configuration.overflow { DatabaseFiles.remove(path) }
    state.withLock { $0.counters.erased += Int(clamping: left.unacknowledged) }
    do throws(BusClientError) {
      let fresh = try Producer(configuration)
      state.withLock { $0.producer = fresh }
    } catch {
      // The closed one stays: what is delivered is dropped, and counted with this reason.
      state.withLock { $0.counters.lastFailure = error }
    }
  }

  /// Waits for acknowledgements and ends; events delivered later are dropped and counted.
  @discardableResult
  public func close() async -> FlushResult { await producer.close(deadline: flushDeadline) }
}
