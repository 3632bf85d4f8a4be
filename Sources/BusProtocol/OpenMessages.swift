// OPEN, OPENED and GAP; their keys are listed in SessionMessages.swift. GAP has from, to (half open) and
// why str.
internal import Primitives

/// Where reading begins.
public enum StartPosition: Hashable, Sendable {
  /// The named subscriber's own cursor; for a name not known yet, the other.
  indirect case cursor(otherwise: StartPosition)
  case earliest
  case latest
  /// A cursor that the subscriber keeps itself; put back, with GAP, when it lies beyond its epoch.
  case position(Position)
  case offset(UInt64)
  /// The first event that the broker took at or after this journal time, nanoseconds since 1970.
  case time(Int64)

  var word: String {
    switch self {
    case .cursor: "cursor"
    case .earliest: "earliest"
    case .latest: "latest"
    case .position: "position"
    case .offset: "offset"
    case .time: "time"
    }
  }

  func add(to map: inout ControlMap, key: String) {
    map[key] = .text(word)
    switch self {
    case .cursor(let other): other.add(to: &map, key: "otherwise")
    case .earliest, .latest: break
    case .position(let position):
      map["offset"] = .number(position.offset)
      map["epoch"] = .number(UInt64(position.epoch))
    case .offset(let offset): map["offset"] = .number(offset)
    case .time(let time): map["time"] = .number(UInt64(max(0, time)))
    }
  }

  init(_ map: ControlMap, key: String) throws(ProtocolError) {
    switch map.text(key, or: key == "start" ? "cursor" : "earliest") {
    case "cursor" where key == "start":
      self = .cursor(otherwise: try StartPosition(map, key: "otherwise"))
    case "earliest": self = .earliest
    case "latest": self = .latest
    case "position":
      self = .position(
        Position(epoch: UInt32(clamping: map.number("epoch")), offset: map.number("offset")))
    case "offset": self = .offset(map.number("offset"))
    case "time": self = .time(Int64(clamping: map.number("time")))
    case let other: throw .body(.open, reason: "unknown \(key) '\(other.prefix(40))'")
    }
  }
}

public struct OpenMessage: Hashable, Sendable {
  public var client: String
  /// Empty: nothing is kept, and nobody is fenced.
  public var name: [UInt8]
  public var filters: [NameFilter]
  public var start: StartPosition
  public var instance: [UInt8]
  /// Take other filters than those known under this name; its cursor stays.
  public var reset: Bool

  public init(
    client: String, name: [UInt8], filters: [NameFilter], start: StartPosition, instance: [UInt8],
    reset: Bool = false
  ) {
    self.client = client
    self.name = name
    self.filters = filters
    self.start = start
    self.instance = instance
    self.reset = reset
  }

  public init(decoding message: RawSpan) throws(ProtocolError) {
    let map = try ControlMap(body: message, of: .open)
    client = map.text("client")
    name = map.bytes("name")
    instance = map.bytes("instance")
    reset = map.flag("reset")
    start = try StartPosition(map, key: "start")
    filters = try NameFilter.list(map, verb: .open)
    guard name.count <= 200 else { throw .body(.open, reason: "a name has at most 200 bytes") }
    guard instance.count <= 64 else {
      throw .body(.open, reason: "an instance has at most 64 bytes")
    }
  }

  public func encode() -> [UInt8] {
    var map = ControlMap()
    map["client"] = .text(client)
    map["name"] = .bytes(name)
    map["instance"] = .bytes(instance)
    map["reset"] = .flag(reset)
    start.add(to: &map, key: "start")
    map["filters"] = NameFilter.value(filters)
    return map.message(MessageHeader(.open))
  }
}

public struct OpenedMessage: Hashable, Sendable {
  public struct Epoch: Hashable, Sendable {
    public var epoch: UInt32
    public var firstOffset: UInt64

    public init(epoch: UInt32, firstOffset: UInt64) {
      self.epoch = epoch
      self.firstOffset = firstOffset
    }
  }

  public var token: UInt64
  public var cursor: Position
  public var earliest: UInt64
  public var head: UInt64
  /// Raised by each `seek` of an operator.
  public var seekGeneration: UInt64
  /// An operator has paused this name: nothing comes until it is resumed.
  public var isPaused: Bool
  public var epochs: [Epoch]
  public var broker: BrokerDescription

  public init(
    token: UInt64, cursor: Position, earliest: UInt64, head: UInt64, seekGeneration: UInt64,
    isPaused: Bool = false, epochs: [Epoch], broker: BrokerDescription
  ) {
    self.token = token
    self.cursor = cursor
    self.earliest = earliest
    self.head = head
    self.seekGeneration = seekGeneration
    self.isPaused = isPaused
    self.epochs = epochs
    self.broker = broker
  }

  public init(decoding message: RawSpan) throws(ProtocolError) {
    let map = try ControlMap(body: message, of: .opened)
    token = try MessageHeader(decoding: message).token
    cursor = Position(
      epoch: UInt32(clamping: map.number("epoch")),
      offset: try map.number("cursor").countable(.opened))
    earliest = try map.number("earliest").countable(.opened)
    head = try map.number("head").countable(.opened)
    seekGeneration = try map.number("generation").countable(.opened)
    isPaused = map.flag("paused")
    epochs = map.list("epochs").compactMap { item in
      guard case .list(let parts) = item, parts.count >= 2, case .number(let epoch) = parts[0],
        case .number(let first) = parts[1]
      else { return nil }
      return Epoch(epoch: UInt32(clamping: epoch), firstOffset: first)
    }
    broker = BrokerDescription(map)
  }

  public func encode() -> [UInt8] {
    var map = ControlMap()
    map["epoch"] = .number(UInt64(cursor.epoch))
    map["cursor"] = .number(cursor.offset)
    map["earliest"] = .number(earliest)
    map["head"] = .number(head)
    map["generation"] = .number(seekGeneration)
    if isPaused { map["paused"] = .flag(true) }
    map["epochs"] = .list(
      epochs.map { .list([.number(UInt64($0.epoch)), .number($0.firstOffset)]) })
    broker.add(to: &map)
    return map.message(MessageHeader(.opened, token: token))
  }
}

/// Events that a subscriber wanted and will not get.
public struct GapMessage: Hashable, Sendable {
  public var token: UInt64
  public var from: Position
  public var to: Position
  /// `retention`, `epoch` or `damage`.
  public var why: String

  public init(token: UInt64, from: Position, to: Position, why: String) {
    self.token = token
    self.from = from
    self.to = to
    self.why = why
  }

  public init(decoding message: RawSpan) throws(ProtocolError) {
    let map = try ControlMap(body: message, of: .gap)
    token = try MessageHeader(decoding: message).token
    from = Position(
      epoch: UInt32(clamping: map.number("fromEpoch")),
      offset: try map.number("from").countable(.gap))
    to = Position(
      epoch: UInt32(clamping: map.number("toEpoch")), offset: try map.number("to").countable(.gap))
    why = map.text("why")
  }

  public func encode() -> [UInt8] {
    var map = ControlMap()
    map["fromEpoch"] = .number(UInt64(from.epoch))
    map["from"] = .number(from.offset)
    map["toEpoch"] = .number(UInt64(to.epoch))
    map["to"] = .number(to.offset)
    map["why"] = .text(why)
    return map.message(MessageHeader(.gap, token: token))
  }
}
