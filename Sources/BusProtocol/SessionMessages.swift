// HELLO, WELCOME, OPEN, OPENED and REFUSE: MessagePack maps after the message header. Keys are listed
// here; a reader ignores those it does not know, and one that is missing has the value in brackets.
//
//   HELLO    client str [""], producer bin16, instance bin16, sequenced bool [false], forget bool [false]
//   WELCOME  (token in the header) epoch, stored (last sequence taken from this producer), window (bytes),
//            and the keys of `BrokerDescription`
//   OPEN     client, name str [""], filters array of [kind str, text bin] [[]], start str ["cursor"],
//            offset [0], epoch [0], time [0], otherwise str ["earliest"], instance bin16, reset bool
//   OPENED   (token in the header) epoch, cursor, earliest, head, generation, paused bool [false],
//            epochs array of [epoch, first offset], and the keys of `BrokerDescription`
//   REFUSE   (token as in the message refused) code str, text str, sequence [0], round [0], last [0],
//            retry (milliseconds) [0], events array of [index, code, text] [[]]
//
// Waits above an hour are read as an hour, sizes and limits above 2^32 - 1 as that.
internal import Primitives

extension ControlMap {
  /// Milliseconds that somebody else chose, at most an hour: added to a clock they cannot overflow.
  fileprivate func wait(_ key: String, or other: UInt64 = 0) -> Duration {
    .milliseconds(Int64(min(number(key, or: other), 3_600_000)))
  }

  /// A size that somebody else chose, at most 2^32 - 1: sums of such sizes fit.
  fileprivate func size(_ key: String, or other: Int = 0) -> Int {
    Int(UInt32(clamping: number(key, or: UInt64(other))))
  }
}

/// What a client learns of the broker at its handshake.
public struct BrokerDescription: Hashable, Sendable {
  public var version = ""
  /// 16 bytes by which two clients know that they are on the same bus: chosen anew at each start of the broker.
  /// Empty: the broker is older and has none.
  public var run: [UInt8] = []
  public var durability = ""
  public var heartbeat = Duration.seconds(2)
  public var limits = BusLimits()
  public var liveAddress = ""
  public var publishAddress = ""
  public var pushAddress = ""

  public init() {}

  init(_ map: ControlMap) {
    version = map.text("version")
    run = map.bytes("run")
    durability = map.text("durability")
    heartbeat = map.wait("heartbeat", or: 2000)
    limits.nameBytes = map.size("nameBytes", or: limits.nameBytes)
    limits.eventBytes = map.size("eventBytes", or: limits.eventBytes)
    limits.batchEvents = map.size("batchEvents", or: limits.batchEvents)
    limits.batchBytes = map.size("batchBytes", or: limits.batchBytes)
    limits.depth = map.size("depth", or: limits.depth)
    liveAddress = map.text("live")
    publishAddress = map.text("publish")
    pushAddress = map.text("push")
  }

  func add(to map: inout ControlMap) {
    map["version"] = .text(version)
    if !run.isEmpty { map["run"] = .bytes(run) }
    map["durability"] = .text(durability)
    map["heartbeat"] = .number(UInt64(heartbeat.nanoseconds / 1_000_000))
    map["nameBytes"] = .number(UInt64(limits.nameBytes))
    map["eventBytes"] = .number(UInt64(limits.eventBytes))
    map["batchEvents"] = .number(UInt64(limits.batchEvents))
    map["batchBytes"] = .number(UInt64(limits.batchBytes))
    map["depth"] = .number(UInt64(limits.depth))
    map["live"] = .text(liveAddress)
    map["publish"] = .text(publishAddress)
    map["push"] = .text(pushAddress)
  }
}

public struct HelloMessage: Hashable, Sendable {
  /// What the program calls itself, for `status`.
  public var client: String
  /// 16 bytes, not all zero; the producer's identity across connections and restarts.
  public var producer: [UInt8]
  /// Chosen anew by each run. A HELLO of the same run replaces its own connection; one of another run
  /// fences the one before.
  public var instance: [UInt8]
  /// Asks to publish `$forget`, which is refused from all others.
  public var mayForget: Bool

  public init(client: String, producer: [UInt8], instance: [UInt8], mayForget: Bool = false) {
    self.client = client
    self.producer = producer
    self.instance = instance
    self.mayForget = mayForget
  }

  public init(decoding message: RawSpan) throws(ProtocolError) {
    let map = try ControlMap(body: message, of: .hello)
    client = map.text("client")
    producer = map.bytes("producer")
    instance = map.bytes("instance")
    mayForget = map.flag("forget")
    guard producer.count == 16, producer.contains(where: { $0 != 0 }) else {
      throw .body(.hello, reason: "producer must be 16 bytes, not all zero")
    }
    guard instance.count <= 64 else {
      throw .body(.hello, reason: "an instance has at most 64 bytes")
    }
  }

  public func encode() -> [UInt8] {
    var map = ControlMap()
    map["client"] = .text(client)
    map["producer"] = .bytes(producer)
    map["instance"] = .bytes(instance)
    // Left out where it is not wanted: an older broker reads the same bytes as ever.
    if mayForget { map["forget"] = .flag(true) }
    return map.message(MessageHeader(.hello))
  }
}

public struct WelcomeMessage: Hashable, Sendable {
  public var token: UInt64
  public var epoch: UInt32
  public var storedSequence: UInt64
  public var windowBytes: Int
  public var broker: BrokerDescription

  public init(
    token: UInt64, epoch: UInt32, storedSequence: UInt64, windowBytes: Int,
    broker: BrokerDescription
  ) {
    self.token = token
    self.epoch = epoch
    self.storedSequence = storedSequence
    self.windowBytes = windowBytes
    self.broker = broker
  }

  public init(decoding message: RawSpan) throws(ProtocolError) {
    let map = try ControlMap(body: message, of: .welcome)
    token = try MessageHeader(decoding: message).token
    epoch = UInt32(clamping: map.number("epoch"))
    storedSequence = map.number("stored")
    windowBytes = map.size("window")
    broker = BrokerDescription(map)
  }

  public func encode() -> [UInt8] {
    var map = ControlMap()
    map["epoch"] = .number(UInt64(epoch))
    map["stored"] = .number(storedSequence)
    map["window"] = .number(UInt64(windowBytes))
    broker.add(to: &map)
    return map.message(MessageHeader(.welcome, token: token))
  }
}

/// The broker did not take a batch, or refused a request.
public struct RefuseMessage: Hashable, Sendable {
  public struct Event: Hashable, Sendable {
    /// Its place in the batch, from 0.
    public var index: Int
    public var code: String
    public var text: String

    public init(index: Int, code: String, text: String) {
      self.index = index
      self.code = code
      self.text = text
    }
  }

  public var token: UInt64
  /// The raw value of a `RefusalCode`; kept as text, since a newer broker may have others.
  public var code: String
  public var text: String
  /// Of the batch refused; 0 when it was no batch.
  public var sequence: UInt64 = 0
  public var round: UInt32 = 0
  /// The last sequence taken from this producer.
  public var lastSequence: UInt64 = 0
  public var retryAfter: Duration = .zero
  /// The events that must be taken out before the rest is sent again.
  public var events: [Event] = []

  public init(token: UInt64, code: RefusalCode, text: String) {
    self.token = token
    self.code = code.rawValue
    self.text = text
  }

  public var knownCode: RefusalCode? { RefusalCode(rawValue: code) }

  public init(decoding message: RawSpan) throws(ProtocolError) {
    let map = try ControlMap(body: message, of: .refuse)
    token = try MessageHeader(decoding: message).token
    code = map.text("code")
    text = map.text("text")
    sequence = map.number("sequence")
    round = UInt32(clamping: map.number("round"))
    lastSequence = map.number("last")
    retryAfter = map.wait("retry")
    events = map.list("events").compactMap { item in
      guard case .list(let parts) = item, parts.count >= 3, case .number(let index) = parts[0],
        case .text(let code) = parts[1], case .text(let text) = parts[2]
      else { return nil }
      return Event(index: Int(UInt32(clamping: index)), code: code, text: text)
    }
  }

  public func encode() -> [UInt8] {
    var map = ControlMap()
    map["code"] = .text(code)
    map["text"] = .text(text)
    map["sequence"] = .number(sequence)
    map["round"] = .number(UInt64(round))
    map["last"] = .number(lastSequence)
    map["retry"] = .number(UInt64(max(0, retryAfter.nanoseconds / 1_000_000)))
    if !events.isEmpty {
      map["events"] = .list(
        events.map { .list([.number(UInt64($0.index)), .text($0.code), .text($0.text)]) })
    }
    return map.message(MessageHeader(.refuse, token: token))
  }
}
