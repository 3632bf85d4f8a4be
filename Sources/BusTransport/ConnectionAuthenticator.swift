internal import Primitives

/// Who wants to connect to a socket of ``CurveRole/server(_:domain:)``: the owner of a key, which was
/// proved already.
public struct ConnectionRequest: Hashable, Sendable {
  /// The domain that the socket was given.
  public var domain: String
  /// The peer's IP address.
  public var address: String
  public var key: CurvePublicKey
}

public enum ConnectionVerdict: Hashable, Sendable {
  /// Lets it in; `Message.user` then says this of all that comes from there. Never empty: a peer could
  /// state a user of its own.
  case allow(user: String)
  /// Tells the peer so; libzmq then never tries again by itself.
  case deny
  /// Closes without a word; libzmq tries again after its interval.
  case denyForNow
}

/// The authenticator of a context (ZAP 1.0): libzmq asks it about every handshake on a CURVE socket.
///
/// Made before the first such socket binds, and closed after the last: **libzmq lets everybody in while
/// there is none**. So what comes from a socket is believed only when `Message.user` names a user that
/// nobody else can know of. Belongs to the thread that made it, which must serve it steadily; a handshake
/// that gets no answer ends at the socket's `handshakeMilliseconds`.
public struct ConnectionAuthenticator: ~Copyable {
  /// More of them wait with libzmq.
  private static let turn = 256

  private let socket: Socket
  private var poll = PollSet()
  private var message = Message()
  private let decide: @Sendable (ConnectionRequest) -> ConnectionVerdict
  /// Questions that could not be understood; answered with a no where they have a number.
  public private(set) var malformed: UInt64 = 0

  public init(
    _ context: ZeroMQContext,
    _ decide: @escaping @Sendable (ConnectionRequest) -> ConnectionVerdict
  ) throws(TransportError) {
    var options = SocketOptions()
    // One question a handshake is under way, and sockets limit those by time; none may be lost.
    options.sendHighWater = 0
    options.receiveHighWater = 0
    let socket = try Socket(context, .router, options)
    try socket.bind("inproc://zeromq.zap.01")
    _ = poll.add(socket)
    self.socket = socket
    self.decide = decide
  }

  /// Answers what is asked, waiting up to `milliseconds` for the first question.
  public mutating func serve(milliseconds: Int) throws(TransportError) {
    try poll.wait(milliseconds: milliseconds)
    for _ in 0..<Self.turn {
      guard try socket.tryReceive(into: &message) else { return }
      try answerOne()
    }
  }

  private mutating func answerOne() throws(TransportError) {
    var frames = [message.bytes.copied()]
    while message.hasMore, frames.count < ZAPRequest.maximumFrames,
      try socket.tryReceive(into: &message)
    {
      frames.append(message.bytes.copied())
    }
    let isLong = try socket.dropRest(&message) > 0
    let request = ZAPRequest(frames: frames)
    guard let id = request.id else {
      malformed += 1
      return
    }
    var verdict = ConnectionVerdict.deny
    if !isLong, let connection = request.connection {
      verdict = decide(connection)
    } else {
      malformed += 1
    }
    try send(ZAPRequest.reply(verdict, to: id), to: frames[0])
  }

  private func send(_ reply: [[UInt8]], to peer: [UInt8]) throws(TransportError) {
    do throws(TransportError) {
      guard try socket.trySend(peer, more: true) else { return }
      for (index, frame) in reply.enumerated() {
        _ = try socket.trySend(frame, more: index < reply.count - 1)
      }
    } catch {
      // The connection ended while its question waited.
      guard error.kind == .unreachable else { throw error }
    }
  }
}

/// One question of ZAP 1.0, as a ROUTER gets it:
///
///     peer | empty | "1.0" | request id | domain | address | routing id | mechanism | credentials...
///
/// and its answer: empty, "1.0", request id, status, text, user, metadata.
struct ZAPRequest {
  static let maximumFrames = 12

  /// Nil when no answer could be understood.
  let id: [UInt8]?
  /// Nil when it is not a question about a CURVE key.
  let connection: ConnectionRequest?

  init(frames: [[UInt8]]) {
    guard frames.count >= 4, frames[1].isEmpty, frames[3].count <= 255 else {
      id = nil
      connection = nil
      return
    }
    id = frames[3]
    guard frames.count == 9, frames[2] == Array("1.0".utf8), frames[7] == Array("CURVE".utf8),
      frames[4].count <= 255, frames[5].count <= 255, let key = CurvePublicKey(bytes: frames[8])
    else {
      connection = nil
      return
    }
    connection = ConnectionRequest(
      domain: String(decoding: frames[4], as: UTF8.self),
      address: String(decoding: frames[5], as: UTF8.self), key: key)
  }

  static func reply(_ verdict: ConnectionVerdict, to id: [UInt8]) -> [[UInt8]] {
    let (status, text, user) =
      switch verdict {
      case .allow(let user): ("200", "OK", user)
      case .deny: ("400", "DENIED", "")
      case .denyForNow: ("300", "DENIED", "")
      }
    return [[], Array("1.0".utf8), id, Array(status.utf8), Array(text.utf8), Array(user.utf8), []]
  }
}
