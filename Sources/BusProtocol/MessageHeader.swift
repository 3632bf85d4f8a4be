// Every message between a client and the broker's `bus` socket (port 7400) is one ZeroMQ frame:
//
//   0  magic    u8   0xEB
//   1  version  u8   1. A broker answers a message of another version with a bare BYE of its own, and
//                    counts it; a client that meets another version reports it and stops.
//   2  verb     u8   see `Verb`. An unknown verb is dropped and counted, and answered with RESET.
//   3  flags    u8   0; a reader ignores what it does not know
//   4  token    u64  names the session (WELCOME and OPENED give it); in FETCH, ADMIN and their answers
//                    the number of the request, chosen by the client
//  12  body          by verb; all integers are big endian
//
// Bodies are fixed layouts where they are frequent (each at the head of its own file) and MessagePack
// maps elsewhere: a reader of a map ignores keys it does not know, so that fields can be added.
internal import Primitives

/// What a message is.
public enum Verb: UInt8, Sendable, CaseIterable {
  // From a client.
  case hello = 1
  case publish = 2
  case ping = 3
  case open = 4
  case credit = 5
  case commit = 6
  case fetch = 7
  case admin = 8
  case close = 9
  // From the broker.
  case welcome = 65
  case acknowledge = 66
  case refuse = 67
  case pong = 68
  case reset = 69
  case opened = 70
  case batch = 71
  case committed = 72
  case head = 73
  case gap = 74
  case fenced = 75
  case bye = 76
  case reply = 77
  case fetched = 78
}

/// Why bytes from a peer are not a message of this protocol.
public enum ProtocolError: Error, Hashable, Sendable, CustomStringConvertible {
  case tooShort(bytes: Int)
  case notThisProtocol
  case version(UInt8)
  case unknownVerb(UInt8)
  case body(Verb, reason: String)
  case batch(reason: String)

  public var description: String {
    switch self {
    case .tooShort(let bytes): "message of \(bytes) bytes is too short for a header"
    case .notThisProtocol: "message does not begin with the protocol's magic byte"
    case .version(let version): "protocol version \(version) is not supported (this is version 1)"
    case .unknownVerb(let verb): "unknown verb \(verb)"
    case .body(let verb, let reason): "\(verb) message: \(reason)"
    case .batch(let reason): "batch: \(reason)"
    }
  }
}

public struct MessageHeader: Hashable, Sendable {
  public static let magic: UInt8 = 0xEB
  public static let version: UInt8 = 1
  public static let byteCount = 12

  public var verb: Verb
  public var flags: UInt8 = 0
  public var token: UInt64

  public init(_ verb: Verb, flags: UInt8 = 0, token: UInt64 = 0) {
    self.verb = verb
    self.flags = flags
    self.token = token
  }

  public init(decoding message: RawSpan) throws(ProtocolError) {
    guard message.byteCount >= Self.byteCount else { throw .tooShort(bytes: message.byteCount) }
    guard message.bigEndian(at: 0, as: UInt8.self) == Self.magic else { throw .notThisProtocol }
    let version: UInt8 = message.bigEndian(at: 1)
    guard version == Self.version else { throw .version(version) }
    let verb: UInt8 = message.bigEndian(at: 2)
    guard let known = Verb(rawValue: verb) else { throw .unknownVerb(verb) }
    self.verb = known
    flags = message.bigEndian(at: 3)
    token = message.bigEndian(at: 4)
  }

  public func encode(into bytes: inout [UInt8]) {
    bytes.append(Self.magic)
    bytes.append(Self.version)
    bytes.append(verb.rawValue)
    bytes.append(flags)
    bytes.appendBigEndian(token)
  }

  /// A message of this header and nothing else (PING, PONG, RESET, FENCED, CLOSE).
  public var message: [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(Self.byteCount)
    encode(into: &bytes)
    return bytes
  }
}
