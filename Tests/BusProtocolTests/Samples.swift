import Primitives
import Testing

@testable import BusProtocol

/// One message of each kind with every field set, and how it is read and written again.
struct Sample: Sendable, CustomTestStringConvertible {
  var name: String
  var bytes: [UInt8]
  /// Fixed layouts have no unknown fields: what was read is all that was there.
  var isFixed: Bool
  /// Reads the message and writes what was understood.
  var rewrite: @Sendable ([UInt8]) throws -> [UInt8]

  var testDescription: String { name }

  static let all = fixed + maps + [publish, delivery, batch, addressedBatch]

  static let fixed = [
    Sample("acknowledge", AcknowledgeMessage(sequence: 7, nextOffset: 1 << 40, windowBytes: 99)) {
      try AcknowledgeMessage(decoding: unsafe $0.span.bytes).encode(token: try token($0))
    },
    Sample("credit", CreditMessage(events: 1 << 33, bytes: 1 << 34)) {
      try CreditMessage(decoding: unsafe $0.span.bytes).encode(token: try token($0))
    },
    Sample("head", HeadMessage(head: 500, lag: 20)) {
      try HeadMessage(decoding: unsafe $0.span.bytes).encode(token: try token($0))
    },
    Sample("commit", CommitMessage(cursor: Position(epoch: 3, offset: 1 << 35))) {
      try CommitMessage(decoding: unsafe $0.span.bytes).encode(.commit, token: try token($0))
    },
  ]

  static let maps = [
    Sample("hello", hello) { try HelloMessage(decoding: unsafe $0.span.bytes).encode() },
    Sample("welcome", welcome) { try WelcomeMessage(decoding: unsafe $0.span.bytes).encode() },
    Sample("refuse", refuse) { try RefuseMessage(decoding: unsafe $0.span.bytes).encode() },
    Sample("open", open) { try OpenMessage(decoding: unsafe $0.span.bytes).encode() },
    Sample("opened", opened) { try OpenedMessage(decoding: unsafe $0.span.bytes).encode() },
    Sample("gap", gap) { try GapMessage(decoding: unsafe $0.span.bytes).encode() },
    Sample("fetch", fetch) { try FetchMessage(decoding: unsafe $0.span.bytes).encode() },
    Sample("admin", admin) { try AdminMessage(decoding: unsafe $0.span.bytes).encode() },
    Sample("reply", reply) { try ReplyMessage(decoding: unsafe $0.span.bytes).encode() },
  ]

  init(
    _ name: String, _ bytes: [UInt8], isFixed: Bool = false,
    rewrite: @escaping @Sendable ([UInt8]) throws -> [UInt8]
  ) {
    self.name = name
    self.bytes = bytes
    self.isFixed = isFixed
    self.rewrite = rewrite
  }

  init(
    _ name: String, _ message: some FixedMessage,
    rewrite: @escaping @Sendable ([UInt8]) throws -> [UInt8]
  ) {
    self.init(name, message.encode(token: 0xABCD), isFixed: true, rewrite: rewrite)
  }

  private static func token(_ bytes: [UInt8]) throws -> UInt64 {
    try MessageHeader(decoding: unsafe bytes.span.bytes).token
  }
}

/// What the fixed messages have in common here.
protocol FixedMessage { func encode(token: UInt64) -> [UInt8] }
extension AcknowledgeMessage: FixedMessage {}
extension CreditMessage: FixedMessage {}
extension HeadMessage: FixedMessage {}
extension CommitMessage: FixedMessage {
  func encode(token: UInt64) -> [UInt8] { encode(.commit, token: token) }
}

extension Sample {
  static let producer = (1...16).map { UInt8($0) }

  static let broker: BrokerDescription = {
    var broker = BrokerDescription()
    broker.version = "1.2.3"
    broker.durability = "group"
    broker.heartbeat = .milliseconds(1500)
    broker.limits.batchEvents = 500
    broker.limits.depth = 16
    broker.liveAddress = "tcp://127.0.0.1:7401"
    broker.publishAddress = "tcp://127.0.0.1:7402"
    broker.pushAddress = "tcp://127.0.0.1:7403"
    return broker
  }()

  static let hello = HelloMessage(client: "games", producer: producer, instance: [9, 8]).encode()
  static let welcome = WelcomeMessage(
    token: 77, epoch: 4, storedSequence: 1 << 33, windowBytes: 1 << 20, broker: broker
  ).encode()

  static let refuse: [UInt8] = {
    var message = RefuseMessage(token: 5, code: .badName, text: "a name has a NUL")
    message.sequence = 300
    message.round = 2
    message.lastSequence = 299
    message.retryAfter = .milliseconds(250)
    message.events = [.init(index: 3, code: "BAD_NAME", text: "name 3")]
    return message.encode()
  }()

  static let filters = [
    NameFilter(.exact, "Game Started"), NameFilter(.prefix, "Game "), NameFilter(.glob, "* End*"),
  ]
  static let open = OpenMessage(
    client: "archiver", name: Array("archive".utf8), filters: filters,
    start: .cursor(otherwise: .position(Position(epoch: 2, offset: 900))), instance: [1],
    reset: true
  ).encode()
  static let opened = OpenedMessage(
    token: 6, cursor: Position(epoch: 2, offset: 900), earliest: 100, head: 1000,
    seekGeneration: 3,
    epochs: [.init(epoch: 1, firstOffset: 0), .init(epoch: 2, firstOffset: 800)],
    broker: broker
  ).encode()
  static let gap = GapMessage(
    token: 6, from: Position(epoch: 1, offset: 10), to: Position(epoch: 2, offset: 200),
    why: "retention"
  ).encode()
  static let fetch = FetchMessage(
    request: 12, start: .time(1_700_000_000_000_000_000), to: 5000, filters: filters,
    maximumEvents: 10, maximumBytes: 4096
  ).encode()

  static let admin: [UInt8] = {
    var message = AdminMessage(request: 13, action: .seek)
    message.arguments["do"] = .text("seek")
    message.arguments["name"] = .text("archive")
    message.setSeekTarget(.offset(70))
    return message.encode()
  }()

  static let reply: [UInt8] = {
    var inner = ControlMap()
    inner["lag"] = .number(200)
    var result = ControlMap()
    result["ok"] = .flag(true)
    result["nothing"] = .null
    result["below"] = .negative(-5)
    result["rate"] = .double(0.5)
    result["name"] = .text("größer")
    result["raw"] = .bytes([0, 255])
    result["list"] = .list([.number(1), .map(inner)])
    return ReplyMessage(request: 14, result: result).encode()
  }()
}
