/// Events that are encoded already and published together: payloads one after another, with the names
/// they travel under.
public struct EncodedEvents: Sendable {
  /// All payloads so far. Append one event's payload, then call `add(name:)`.
  public var payloads: [UInt8] = []
  /// Distinct names of neighbours; entries say which.
  private var names: [[UInt8]] = []
  private var entries: [(name: Int, end: Int)] = []

  public init() {}

  public var count: Int { entries.count }
  public var isEmpty: Bool { entries.isEmpty }

  /// Closes the event whose payload was appended since the last call.
  public mutating func add(name: [UInt8]) {
    if names.last != name { names.append(name) }
    entries.append((names.count - 1, payloads.count))
  }

  /// Where the payload of an event stands.
  public func range(of index: Int) -> Range<Int> {
    (index == 0 ? 0 : entries[index - 1].end)..<entries[index].end
  }

  public func name(of index: Int) -> [UInt8] { names[entries[index].name] }
}

/// What became of events that were published together.
public struct PublishReceipt: Hashable, Sendable {
  /// An event that will never be stored.
  public struct Refusal: Hashable, Sendable {
    /// Its place among the events.
    public var index: Int
    public var code: String
    public var text: String
  }

  /// Durable at the broker.
  public var acknowledged = 0
  /// In no order.
  public var refused: [Refusal] = []
  /// Neither, since the producer ended before.
  public var lost = 0
}
