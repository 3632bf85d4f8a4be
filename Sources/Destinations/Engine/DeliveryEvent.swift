internal import Primitives

/// An event as the engine keeps it: what is to be sent, and what it was.
public struct DeliveryEvent: Hashable, Sendable {
  public var source: EventSource
  /// The dead letter that this is, sent again; nil for an event from the bus.
  public var letter: Int64?
  /// Equal for events of one user, whose order is kept: see ``UserKey``.
  public var key: UInt64
  /// The envelope, a MessagePack map.
  public var payload: [UInt8]
  /// What stands for it in a request.
  public var item: [UInt8]
  /// What became of it already: it is not to be sent.
  public var settled: DeliveryOutcome?

  public init(
    _ source: EventSource, letter: Int64? = nil, key: UInt64, payload: [UInt8], item: [UInt8],
    settled: DeliveryOutcome? = nil
  ) {
    self.source = source
    self.letter = letter
    self.key = key
    self.payload = payload
    self.item = item
    self.settled = settled
  }

  /// What it counts for in `DeliveryConfiguration.waitingBytes`.
  var cost: Int { payload.count + item.count + 200 }
}

/// What became of an event.
public enum DeliveryOutcome: Hashable, Sendable {
  case delivered
  /// Taken by the destination without a proof.
  case unproven
  /// Not meant for this destination.
  case skipped
  /// Its person asked to be forgotten while it waited.
  case forgotten
  /// Elsewhere, so that the many that wait do not carry the room for it.
  indirect case dead(Refusal)
}

/// Why an event is a dead letter.
public struct Refusal: Hashable, Sendable {
  public enum Origin: String, Hashable, Sendable {
    /// Never sent: the destination would refuse it, or drop it silently.
    case validation
    /// The destination refused it.
    case destination
    /// It failed alone, again and again, while others got through.
    case failing
  }

  public var origin: Origin
  public var reason: String
  /// Status of the last answer; 0 when there was none.
  public var status: Int
  /// The beginning of the last answer's body, made fit to be shown.
  public var answer: String
  /// Requests that carried it.
  public var tries: Int

  public init(
    _ origin: Origin, _ reason: String, status: Int = 0, answer: String = "", tries: Int = 0
  ) {
    self.origin = origin
    self.reason = CleanText.clean(reason)
    self.status = status
    self.answer = answer
    self.tries = tries
  }
}

/// The user of an event, as 64 bits: FNV-1a of the id. Two users may share them, which only makes the
/// order stricter.
public enum UserKey {
  /// For events without any id: they are one user.
  public static let nobody: UInt64 = 0

  public static func of(_ id: RawSpan) -> UInt64 {
    var hash: UInt64 = 0xCBF2_9CE4_8422_2325
    for index in 0..<id.byteCount {
      let byte = unsafe id.unsafeLoad(fromByteOffset: index, as: UInt8.self)
      hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3
    }
    return hash
  }
}
