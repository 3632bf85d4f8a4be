// The frequent messages of a producer, after the message header:
//
//   PUBLISH      0  sequence  u64  of this batch; higher than the producer's last stored one
//                8  previous  u64  the sequence before it: what makes a lost batch visible. The broker
//                                  stores a batch only if this is the last one it stored
//               16  round     u32  how often the client has begun again after a refusal or a connection;
//                                  REFUSE repeats it, so that answers to an older try are told apart
//               20  batch          see Batch.swift
//   ACKNOWLEDGE  0  sequence  u64  all up to it are durable
//                8  next      u64  the offset after the last event of that batch
//               16  window    u32  bytes the producer may have unacknowledged from now on
internal import Primitives

public struct PublishMessage: Hashable, Sendable {
  public static let batchStart = MessageHeader.byteCount + 20

  public var sequence: UInt64
  public var previous: UInt64
  public var round: UInt32

  public init(sequence: UInt64, previous: UInt64, round: UInt32) {
    self.sequence = sequence
    self.previous = previous
    self.round = round
  }

  public init(decoding message: RawSpan) throws(ProtocolError) {
    guard message.byteCount > Self.batchStart else {
      throw .body(.publish, reason: "\(message.byteCount) bytes hold no batch")
    }
    let start = MessageHeader.byteCount
    sequence = message.bigEndian(at: start)
    previous = message.bigEndian(at: start + 8)
    round = message.bigEndian(at: start + 16)
    guard sequence > previous else {
      throw .body(.publish, reason: "sequence \(sequence) does not follow \(previous)")
    }
  }

  /// Begins the message; the batch is appended behind it.
  public func encode(token: UInt64, into bytes: inout [UInt8]) {
    MessageHeader(.publish, token: token).encode(into: &bytes)
    bytes.appendBigEndian(sequence)
    bytes.appendBigEndian(previous)
    bytes.appendBigEndian(round)
  }

  /// Writes token, previous and round anew into a message that is sent again.
  public static func restamp(
    _ message: inout [UInt8], token: UInt64, previous: UInt64, round: UInt32
  ) {
    message.storeBigEndian(token, at: 4)
    message.storeBigEndian(previous, at: MessageHeader.byteCount + 8)
    message.storeBigEndian(round, at: MessageHeader.byteCount + 16)
  }
}

public struct AcknowledgeMessage: Hashable, Sendable {
  public var sequence: UInt64
  public var nextOffset: UInt64
  public var windowBytes: UInt32

  public init(sequence: UInt64, nextOffset: UInt64, windowBytes: UInt32) {
    self.sequence = sequence
    self.nextOffset = nextOffset
    self.windowBytes = windowBytes
  }

  public init(decoding message: RawSpan) throws(ProtocolError) {
    let start = MessageHeader.byteCount
    guard message.byteCount >= start + 20 else {
      throw .body(.acknowledge, reason: "\(message.byteCount) bytes are too few")
    }
    sequence = message.bigEndian(at: start)
    nextOffset = message.bigEndian(at: start + 8)
    windowBytes = message.bigEndian(at: start + 16)
  }

  public func encode(token: UInt64) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(32)
    MessageHeader(.acknowledge, token: token).encode(into: &bytes)
    bytes.appendBigEndian(sequence)
    bytes.appendBigEndian(nextOffset)
    bytes.appendBigEndian(windowBytes)
    return bytes
  }
}
