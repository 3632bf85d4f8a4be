// The frequent messages of a durable subscriber, after the message header (BATCH: Delivery.swift):
//
//   CREDIT     0  events u64, 8  bytes u64   totals since OPEN, not increments: a lost CREDIT is made
//                                            good by the next. Bytes count whole BATCH messages.
//                                            A broker with many subscribers lets each have less under
//                                            way than its credit, but `leastShare` bytes always: who
//                                            gives credit back more seldom than that may wait for ever
//   COMMIT     0  offset u64, 8  epoch u32   the next event wanted after a restart
//   COMMITTED  0  offset u64, 8  epoch u32   that is durable now
//   HEAD       0  head u64,   8  lag u64     sent when a subscriber has caught up, and every second;
//                                            flag bit 0: its name is paused, nothing is sent to it
internal import Primitives

public struct CreditMessage: Hashable, Sendable {
  /// Bytes that are sent to any subscriber with credit before it must give some back.
  public static let leastShare = 256 << 10

  public var events: UInt64
  public var bytes: UInt64

  public init(events: UInt64, bytes: UInt64) {
    self.events = events
    self.bytes = bytes
  }

  public init(decoding message: RawSpan) throws(ProtocolError) {
    (events, bytes) = try twoNumbers(message, .credit)
  }

  public func encode(token: UInt64) -> [UInt8] {
    encodeNumbers(MessageHeader(.credit, token: token), events, bytes)
  }
}

public struct HeadMessage: Hashable, Sendable {
  private static let pausedFlag: UInt8 = 1

  public var head: UInt64
  public var lag: UInt64
  public var isPaused: Bool

  public init(head: UInt64, lag: UInt64, isPaused: Bool = false) {
    self.head = head
    self.lag = lag
    self.isPaused = isPaused
  }

  public init(decoding message: RawSpan) throws(ProtocolError) {
    (head, lag) = try twoNumbers(message, .head)
    _ = try head.countable(.head)
    isPaused = try MessageHeader(decoding: message).flags & Self.pausedFlag != 0
  }

  public func encode(token: UInt64) -> [UInt8] {
    let flags = isPaused ? Self.pausedFlag : 0
    return encodeNumbers(MessageHeader(.head, flags: flags, token: token), head, lag)
  }
}

/// The body of COMMIT and of COMMITTED.
public struct CommitMessage: Hashable, Sendable {
  public var cursor: Position

  public init(cursor: Position) { self.cursor = cursor }

  public init(decoding message: RawSpan) throws(ProtocolError) {
    let start = MessageHeader.byteCount
    guard message.byteCount >= start + 12 else {
      throw .body(.commit, reason: "\(message.byteCount) bytes are too few")
    }
    cursor = Position(epoch: message.bigEndian(at: start + 8), offset: message.bigEndian(at: start))
  }

  public func encode(_ verb: Verb, token: UInt64) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(24)
    MessageHeader(verb, token: token).encode(into: &bytes)
    bytes.appendBigEndian(cursor.offset)
    bytes.appendBigEndian(cursor.epoch)
    return bytes
  }
}

private func twoNumbers(
  _ message: RawSpan, _ verb: Verb
) throws(ProtocolError) -> (UInt64, UInt64) {
  let start = MessageHeader.byteCount
  guard message.byteCount >= start + 16 else {
    throw .body(verb, reason: "\(message.byteCount) bytes are too few")
  }
  return (message.bigEndian(at: start), message.bigEndian(at: start + 8))
}

private func encodeNumbers(_ header: MessageHeader, _ a: UInt64, _ b: UInt64) -> [UInt8] {
  var bytes: [UInt8] = []
  bytes.reserveCapacity(28)
  header.encode(into: &bytes)
  bytes.appendBigEndian(a)
  bytes.appendBigEndian(b)
  return bytes
}
