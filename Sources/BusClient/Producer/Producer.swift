public import BusProtocol
public import EventModel
internal import Primitives
internal import Synchronization

/// Publishes events: durable at the broker when acknowledged, in order, stored once.
///
/// `publish` encodes into the open batch under a lock and returns; one thread of the producer's own
/// talks to the broker, connects again by itself, and sends again what was lost. Safe to use from any
/// thread. Keep it until the program ends, and `close` it then: what is not acknowledged by the
/// deadline is counted in the result (or kept in the spool), never dropped in silence.
public final class Producer: Sendable {
  private let shared: ProducerShared

  /// Starts the producer's thread; does not wait for the broker.
  ///
  /// - Throws: `.configuration` for an address that cannot be used or a spool that is not ours,
  ///   `.system` when a thread or file cannot be had.
  public init(_ configuration: ProducerConfiguration) throws(BusClientError) {
    try BusConnection.check(configuration.address, configuration.security)
    var configuration = configuration
    if configuration.anonymousID.isEmpty {
      configuration.anonymousID = newAnonymousID()
    }
    shared = try ProducerShared(configuration)
    try ProducerLoop.start(shared)
  }

  deinit { shared.beginClose(deadline: 0) }

  /// Publishes a typed event, with the time of the call and the producer's identity. Encodes under the
  /// lock, about 0.4 µs; waits for nobody unless the bound is reached.
  ///
  /// - Throws: `.invalidEvent` when its name, size or own code does not allow it; `.full` as configured;
  ///   `.closed`, or what ended the producer.
  public func publish(_ event: some PublishableEvent) throws(BusClientError) {
    try shared.publish { state throws(BusClientError) in try state.append(event) }
  }

  /// Who typed events are about from now on.
  public var identity: EventIdentity {
    get { shared.state.withLock { $0.identity } }
    set { shared.state.withLock { $0.identity = newValue } }
  }

  /// Publishes an event that is encoded already: one MessagePack map as the protocol describes it.
  ///
  /// - Parameter sequence: the caller's own number, rising, for a producer whose identity is the same
  ///   in each run; the broker stores none twice. See `storedSequence`. All events have one, or none.
  /// - Throws: `.invalidEvent` for a name or size over the limits; `.full` as configured; `.closed`, or
  ///   what ended the producer.
  public func publish(
    payload: RawSpan, name: RawSpan, sequence: UInt64? = nil
  ) throws(BusClientError) {
    try shared.publish { state throws(BusClientError) in
      state.builder.payloads.append(payload)
      return try state.closeEvent(
        name: name, payloadBytes: payload.byteCount, sequence: sequence)
    }
  }

  public func publish(
    payload: [UInt8], name: [UInt8], sequence: UInt64? = nil
  ) throws(BusClientError) {
    try unsafe publish(payload: payload.span.bytes, name: name.span.bytes, sequence: sequence)
  }

  /// Publishes events together, in order, and calls `receipt` once, when the last of them is durable or
  /// refused, or the producer has ended.
  ///
  /// Many such publishers share batches and syncs. `receipt` is called on the producer's own thread or,
  /// where all events break a limit, on this one; it must return soon and not call back into the
  /// producer. Where the producer spills, these events stay in memory all the same.
  ///
  /// - Throws: `.full` as configured, `.closed`, or what ended the producer; nothing was taken then and
  ///   `receipt` will not be called.
  public func publish(
    _ events: EncodedEvents, receipt: @escaping @Sendable (PublishReceipt) -> Void
  ) throws(BusClientError) {
    let ticket = PublishTicket(events: events.count, answer: receipt)
    try shared.publish { state throws(BusClientError) in state.append(events, ticket) }
    ticket.publisherIsDone()
  }

  /// The last sequence that the broker has of this identity; nil until it was asked. Events with a
  /// number at or below it are stored already, and are counted as acknowledged when they are published.
  public var storedSequence: UInt64? { shared.state.withLock { $0.storedSequence } }

  public var counters: ProducerCounters { shared.state.withLock { $0.counters } }

  /// Why the producer can do no more, if so.
  public var failure: BusClientError? { shared.state.withLock { $0.failure } }

  /// Why the broker does not let the producer in, and what to do; nil while it does, and before it was
  /// asked. The producer goes on asking, slowly, and keeps what it has.
  public var denial: String? { shared.state.withLock { $0.denial } }

  /// The connection for people: it stands, or what is wrong and what to do.
  public var link: BusLink { shared.state.withLock { $0.link } }

  /// What one event may be; the defaults until the broker was reached.
  public var limits: BusLimits { shared.state.withLock { $0.limits } }

  /// Waits until the broker was reached; false when it was not by the deadline.
  public func waitUntilConnected(deadline duration: Duration) throws(BusClientError) -> Bool {
    let end = deadline(after: duration)
    while true {
      let (isConnected, failure) = shared.state.withLock { state in
        if state.storedSequence == nil, state.failure == nil { shared.connected.clear() }
        return (state.storedSequence != nil, state.failure)
      }
      if let failure { throw failure }
      if isConnected { return true }
      guard shared.connected.wait(until: end) else { return false }
    }
  }

  /// Waits until all that was published before is acknowledged or refused, or until the deadline.
  public func flush(deadline duration: Duration? = nil) async -> FlushResult {
    await withCheckedContinuation { continuation in
      shared.flush(deadline: deadline(after: duration)) { continuation.resume(returning: $0) }
    }
  }

  /// The same, blocking the calling thread.
  public func flushBlocking(deadline duration: Duration? = nil) -> FlushResult {
    shared.flushBlocking(deadline: deadline(after: duration))
  }

  /// Flushes until the deadline, writes what is left to the spool if there is one, and stops. Events
  /// published later are refused with `.closed`. Returns within the deadline and a second.
  public func close(deadline duration: Duration = .seconds(10)) async -> FlushResult {
    await withCheckedContinuation { continuation in
      shared.close(deadline: deadline(after: duration)) { continuation.resume(returning: $0) }
    }
  }

  /// The same, blocking the calling thread.
  public func closeBlocking(deadline duration: Duration = .seconds(10)) -> FlushResult {
    shared.closeBlocking(deadline: deadline(after: duration))
  }
}

/// A UUIDv7, made once a run for the producer that was given no anonymous id.
private func newAnonymousID() -> String {
  var ids = UUIDv7Generator()
  var text: [UInt8] = []
  ids.next(at: Timestamp(nanoseconds: SystemClock.realtime())).appendText(to: &text)
  return String(decoding: text, as: UTF8.self)
}
