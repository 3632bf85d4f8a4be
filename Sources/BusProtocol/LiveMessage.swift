// The live feed (XPUB, port 7401), three frames for any SUB socket:
//
//   [ name 0x00 ]   the topic. The NUL ends the name, so that subscribing to "Game Started\0" is exact
//                   and to "Game " is a prefix
//   [ payload ]     one event, a MessagePack map; empty in a head beacon
//   [ meta ]        big endian; a reader takes what it knows and skips the rest up to `length`:
//        0  version   u8   1
//        1  flags     u8   0
//        2  length    u16  32: bytes of meta
//        4  epoch     u32
//        8  offset    u64  of the event; in a beacon the journal's head
//       16  sequence  u64  of the event within its name, dense from 1; in a beacon the last one given
//       24  time      i64  journal time, nanoseconds since 1970
//
// A head beacon has the topic "$HEAD/" name 0x00. It is sent only while just that topic is subscribed:
// at once after the subscription (the sign "you are subscribed") and every second (so that a lost tail
// is seen). Who subscribes to everything skips topics that begin with "$HEAD/".
internal import Primitives

public struct LiveMeta: Hashable, Sendable {
  public static let version: UInt8 = 1
  public static let byteCount = 32
  public static let beaconPrefix: [UInt8] = Array("$HEAD/".utf8)

  public var epoch: UInt32
  public var offset: UInt64
  public var sequence: UInt64
  public var time: Int64

  public init(epoch: UInt32, offset: UInt64, sequence: UInt64, time: Int64) {
    self.epoch = epoch
    self.offset = offset
    self.sequence = sequence
    self.time = time
  }

  public init(decoding bytes: RawSpan) throws(ProtocolError) {
    guard bytes.byteCount >= Self.byteCount else { throw .tooShort(bytes: bytes.byteCount) }
    let version: UInt8 = bytes.bigEndian(at: 0)
    guard version >= Self.version else { throw .version(version) }
    epoch = bytes.bigEndian(at: 4)
    offset = try bytes.bigEndian(at: 8, as: UInt64.self).countable(.batch)
    sequence = try bytes.bigEndian(at: 16, as: UInt64.self).countable(.batch)
    time = bytes.bigEndian(at: 24)
  }

  public func encode(into bytes: inout [UInt8]) {
    bytes.append(Self.version)
    bytes.append(0)
    bytes.appendBigEndian(UInt16(Self.byteCount))
    bytes.appendBigEndian(epoch)
    bytes.appendBigEndian(offset)
    bytes.appendBigEndian(sequence)
    bytes.appendBigEndian(time)
  }
}
