public import BusProtocol
public import HTTPClient
public import Primitives

/// What a provider wants: which events it takes, how a request to it looks, and what its answers mean.
///
/// An adapter is pure: no I/O, no clock, no log. One engine (``DeliveryCore`` decides,
/// ``DeliveryLoop`` acts) does everything else for all of them: batches, order, retries, splitting,
/// holding, dead letters and the ledger. It is called from one thread at a time.
///
/// An implementer must pass this test: the same items and the same `sentAt` give the same bytes, and
/// two calls with the same items differ in nothing but what `sentAt` says. A retry carries the same
/// events.
public protocol DestinationAdapter: Sendable {
  /// The command's and the destination's name: `segment`.
  var name: String { get }

  /// Where requests go, as logs, states and dead letters show it: method and address, without a
  /// credential. `POST https://api.segment.io/v1/batch`.
  var route: String { get }

  var limits: DestinationLimits { get }

  /// A request to be made after each start, before any event is prepared or sent (GameAnalytics
  /// `init`). Nil: none is needed.
  mutating func opening(at now: Timestamp) -> HTTPCall?

  /// Takes the answer to ``opening(at:)``. `.delivered`: events may go out. Anything else is treated
  /// as for a request with events, except that no event is touched.
  mutating func opened(_ reply: HTTPReply, at now: Timestamp) -> DeliveryVerdict

  /// Checks one event and appends what stands for it in a request to `item`, which is empty: for a
  /// JSON body one JSON value, without separators.
  ///
  /// - Parameters:
  ///   - name: the event's name on the bus, UTF-8.
  ///   - payload: the envelope, one MessagePack map. It may be damaged: refuse it then.
  ///   - place: where and when the bus took it.
  mutating func prepare(
    _ name: RawSpan, _ payload: RawSpan, _ place: EventSource, into item: inout [UInt8]
  ) -> Preparation

  /// The request that carries these items, in this order; compressed and signed if that is wanted.
  ///
  /// The engine gives at most ``DestinationLimits/events`` items, and at most so many bytes that
  /// ``DestinationLimits/requestBytes`` is not exceeded.
  func call(_ items: [[UInt8]], sentAt: Timestamp) -> HTTPCall

  /// What an answer to ``call(_:sentAt:)`` means for its `count` items.
  /// ``DeliveryVerdict/standard(_:at:)`` knows the common rules; an adapter looks for what its
  /// provider says beyond them first.
  func verdict(_ reply: HTTPReply, count: Int, at now: Timestamp) -> DeliveryVerdict
}

extension DestinationAdapter {
  public mutating func opening(at now: Timestamp) -> HTTPCall? { nil }

  public mutating func opened(_ reply: HTTPReply, at now: Timestamp) -> DeliveryVerdict {
    .standard(reply, at: now)
  }

  public func verdict(_ reply: HTTPReply, count: Int, at now: Timestamp) -> DeliveryVerdict {
    .standard(reply, at: now)
  }
}

/// What a provider accepts in one request. Bytes are those before compression.
public struct DestinationLimits: Hashable, Sendable {
  /// Items in one request.
  public var events: Int
  /// Bytes of one request's body.
  public var requestBytes: Int
  /// Bytes of one item; a longer one is refused before it is sent.
  public var itemBytes: Int
  /// Bytes of a body besides its items and what parts them: `{"batch":[` and the rest.
  public var headBytes: Int
  /// Bytes between two items.
  public var separatorBytes: Int

  public init(
    events: Int, requestBytes: Int, itemBytes: Int, headBytes: Int, separatorBytes: Int = 1
  ) {
    self.events = events
    self.requestBytes = requestBytes
    self.itemBytes = itemBytes
    self.headBytes = headBytes
    self.separatorBytes = separatorBytes
  }
}

/// Where an event comes from.
public struct EventSource: Hashable, Sendable {
  /// Nil for a dead letter that is sent again: its place in the journal was settled long ago.
  public var position: Position?
  /// When the bus took it (journal time): `receivedAt` of an event that has none.
  public var received: Timestamp

  public init(position: Position?, received: Timestamp) {
    self.position = position
    self.received = received
  }
}

/// What becomes of an event before any request.
public enum Preparation: Hashable, Sendable {
  /// `item` holds what is to be sent.
  case ready
  /// Not meant for this destination: mapped away, or switched off by the event's `integrations`.
  /// Counted as not matched, not kept.
  case skip
  /// The provider would refuse it, or drop it silently. Kept as a dead letter with this reason.
  case refuse(String)
}
