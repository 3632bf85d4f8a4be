// BATCH (to a durable subscriber) and FETCHED (the answer to FETCH), after the message header:
//
//   0  scanned to     u64  every event below this offset has been looked at: the subscriber may commit
//                          it once it has handled what came
//   8  scanned epoch  u32
//  12  deliveries     u32
//  16  deliveries          one after another to the end, each:
//        0  epoch   u32
//        4  length  u32  bytes of the batch
//        8  base    u64  offset of distance 0
//       16  time    i64  journal time, nanoseconds since 1970: when the broker took the batch
//       24  batch        see Batch.swift
//
// FETCHED with flag bit 0 set is the last answer to its request.
internal import Primitives

/// A place in the journal: what a cursor is.
public struct Position: Hashable, Sendable, Comparable {
  public var epoch: UInt32
  public var offset: UInt64

  public init(epoch: UInt32, offset: UInt64) {
    self.epoch = epoch
    self.offset = offset
  }

  public static func < (a: Position, b: Position) -> Bool {
    (a.epoch, a.offset) < (b.epoch, b.offset)
  }
}

extension UInt64 {
  /// An offset or a sequence that a broker names: what clients and sinks add to it fits then.
  ///
  /// - Throws: from 2^60 on, which no journal comes to.
  func countable(_ verb: Verb) throws(ProtocolError) -> UInt64 {
    guard self < 1 << 60 else {
      throw .body(verb, reason: "\(self) events are more than there can be")
    }
    return self
  }
}

/// The head of one delivered batch; its bytes are at `range` of the message.
public struct Delivery: Hashable, Sendable {
  public static let headerBytes = 24

  public var epoch: UInt32
  public var base: UInt64
  public var time: Int64
  public var range: Range<Int>

  public init(epoch: UInt32, base: UInt64, time: Int64, range: Range<Int>) {
    self.epoch = epoch
    self.base = base
    self.time = time
    self.range = range
  }

  public func encodeHeader(into bytes: inout [UInt8]) {
    bytes.appendBigEndian(epoch)
    bytes.appendBigEndian(UInt32(range.count))
    bytes.appendBigEndian(base)
    bytes.appendBigEndian(time)
  }
}

public struct DeliveryMessage: Hashable, Sendable {
  public static let headerBytes = MessageHeader.byteCount + 16
  public static let lastFlag: UInt8 = 1

  public var scannedTo: Position
  public var deliveries: [Delivery]

  /// Checks that every delivery lies within `message` and its offsets can be; the batches themselves are checked by `Batch`.
  public init(decoding message: RawSpan) throws(ProtocolError) {
    guard message.byteCount >= Self.headerBytes else { throw .tooShort(bytes: message.byteCount) }
    let start = MessageHeader.byteCount
    scannedTo = Position(
      epoch: message.bigEndian(at: start + 8),
      offset: try message.bigEndian(at: start, as: UInt64.self).countable(.batch))
    let count = Int(message.bigEndian(at: start + 12, as: UInt32.self))
    guard count <= message.byteCount / Delivery.headerBytes else {
      throw .body(.batch, reason: "\(count) deliveries do not fit in it")
    }
    deliveries = []
    deliveries.reserveCapacity(count)
    var at = Self.headerBytes
    for index in 0..<count {
      guard at + Delivery.headerBytes <= message.byteCount else {
        throw .body(.batch, reason: "delivery \(index) is cut off")
      }
      let length = Int(message.bigEndian(at: at + 4, as: UInt32.self))
      let first = at + Delivery.headerBytes
      guard first + length <= message.byteCount else {
        throw .body(.batch, reason: "delivery \(index) of \(length) bytes is cut off")
      }
      deliveries.append(
        Delivery(
          epoch: message.bigEndian(at: at),
          base: try message.bigEndian(at: at + 8, as: UInt64.self).countable(.batch),
          time: message.bigEndian(at: at + 16), range: first..<first + length))
      at = first + length
    }
    guard at == message.byteCount else {
      throw .body(.batch, reason: "\(message.byteCount - at) bytes after the last delivery")
    }
  }

  /// Begins a message; append deliveries, then call `finish`.
  public static func begin(_ header: MessageHeader, into bytes: inout [UInt8]) {
    header.encode(into: &bytes)
    bytes.appendBigEndian(UInt64(0))
    bytes.appendBigEndian(UInt64(0))
  }

  public static func finish(_ bytes: inout [UInt8], scannedTo: Position, deliveries: Int) {
    bytes.storeBigEndian(scannedTo.offset, at: MessageHeader.byteCount)
    bytes.storeBigEndian(scannedTo.epoch, at: MessageHeader.byteCount + 8)
    bytes.storeBigEndian(UInt32(deliveries), at: MessageHeader.byteCount + 12)
  }
}
