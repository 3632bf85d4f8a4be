internal import CZeroMQ
internal import Synchronization

/// What happened to one connection of a socket that reports them.
public struct ConnectionEvent: Hashable, Sendable {
  public enum Kind: Hashable, Sendable {
    /// The link is up but nobody has shaken hands on it yet.
    case connected, accepted
    /// Both sides have shaken hands: messages can pass.
    case ready
    /// The link is gone. A peer that sent too large a message goes so too, without other notice.
    case disconnected
    /// The peer speaks no ZMTP, was too slow, or closed in the middle, as one does that has another key
    /// than it is thought to have. It is tried again.
    case handshakeFailed
    /// One side asks for keys and the other has none. It is not tried again: make a new socket.
    case mechanismsDiffer
    /// The peer's authenticator said no. It is not tried again: make a new socket.
    case denied
    /// The address answers not; another attempt follows after the interval.
    case retrying
    /// No further connection can be accepted: raise the limit of open files.
    case acceptFailed
  }

  public var kind: Kind
  /// A file descriptor, an `errno` or an interval, as libzmq's documentation says for each kind.
  public var value: Int32
  public var address: String
}

extension ConnectionEvent {
  /// Why a handshake failed.
  public enum Failure: String, Hashable, Sendable, CaseIterable {
    /// One side asks for keys and the other has none.
    case keys
    /// The client believes another broker: it has another server key.
    case serverKey = "server_key"
    /// The peer speaks another language.
    case language
    /// The peer went in the middle, or was too slow.
    case ended
  }

  /// Nil when it is none, and for who was denied by the authenticator.
  public var failure: Failure? {
    switch kind {
    case .mechanismsDiffer: .keys
    case .handshakeFailed:
      if value == ZMQ_PROTOCOL_ERROR_ZMTP_CRYPTOGRAPHIC {
        .serverKey
      } else {
        value >= ZMQ_PROTOCOL_ERROR_ZMTP_UNSPECIFIED ? .language : .ended
      }
    case .connected, .accepted, .ready, .disconnected, .denied, .retrying, .acceptFailed: nil
    }
  }
}

extension Socket {
  /// The next thing that happened to a connection; nil when there is none yet.
  ///
  /// Only for a socket made with `reportsConnections` or `reportsFailures`, which must then be read: what nobody reads
  /// stays in memory.
  public func nextConnectionEvent(
    using message: inout Message
  ) throws(TransportError) -> ConnectionEvent? {
    guard let monitor = unsafe monitor else { preconditionFailure("made without reports") }
    while true {
      guard try unsafe ConnectionMonitor.receive(&message, monitor) else { return nil }
      let head = ConnectionMonitor.head(message.bytes)
      guard message.hasMore, try unsafe ConnectionMonitor.receive(&message, monitor) else {
        continue
      }
      guard let head else { continue }
      let address = unsafe message.bytes.withUnsafeBytes {
        unsafe String(decoding: $0, as: UTF8.self)
      }
      return ConnectionEvent(kind: head.kind, value: head.value, address: address)
    }
  }
}

/// libzmq tells of connections on an inproc PAIR socket, in two frames:
///
///     | 0 | event u16 | host byte order |        then the address
///     | 2 | value u32 | host byte order |
///
/// It sends from the I/O thread and *waits* when the reader is full or gone, which would stop every
/// socket of the process. So the pair has no limit, and is closed only after the reports are stopped.
enum ConnectionMonitor {
  private static let counter = Atomic<UInt64>(0)
  private static let kinds: [(Int32, ConnectionEvent.Kind)] = [
    (ZMQ_EVENT_CONNECTED, .connected), (ZMQ_EVENT_ACCEPTED, .accepted),
    (ZMQ_EVENT_HANDSHAKE_SUCCEEDED, .ready), (ZMQ_EVENT_DISCONNECTED, .disconnected),
    (ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL, .handshakeFailed),
    (ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL, .handshakeFailed),
    (ZMQ_EVENT_HANDSHAKE_FAILED_AUTH, .denied),
    (ZMQ_EVENT_CONNECT_RETRIED, .retrying), (ZMQ_EVENT_ACCEPT_FAILED, .acceptFailed),
  ]

  /// Starts the reports of a socket that is not bound or connected yet; returns their reading end.
  static func start(
    _ handle: UnsafeMutableRawPointer, _ context: ZeroMQContext, isComplete: Bool
  ) throws(TransportError) -> UnsafeMutableRawPointer {
    let number = counter.add(1, ordering: .relaxed).newValue
    let address = "inproc://connections-\(number)"
    let wanted = isComplete ? kinds : kinds.filter { $0.1 == .handshakeFailed }
    let events = wanted.reduce(0) { $0 | $1.0 }
    var options = SocketOptions()
    options.receiveHighWater = 0
    let pair = unsafe try SocketSettings.open(context, .pair, options)
    do throws(TransportError) {
      try check("zmq_socket_monitor") { unsafe zmq_socket_monitor(handle, address, events) }
      try check("zmq_connect", address) { unsafe zmq_connect(pair, address) }
    } catch {
      unsafe stop(handle, pair)
      throw error
    }
    return unsafe pair
  }

  static func stop(_ handle: UnsafeMutableRawPointer, _ pair: UnsafeMutableRawPointer) {
    unsafe zmq_socket_monitor(handle, nil, 0)
    unsafe zmq_close(pair)
  }

  static func receive(
    _ message: inout Message, _ pair: UnsafeMutableRawPointer
  ) throws(TransportError) -> Bool {
    try checkReady("zmq_msg_recv") { unsafe zmq_msg_recv(message.handle, pair, ZMQ_DONTWAIT) }
  }

  /// The first frame; nil for events that nobody asked for, like the end of the reports.
  static func head(_ bytes: RawSpan) -> (kind: ConnectionEvent.Kind, value: Int32)? {
    guard bytes.byteCount >= 6 else { return nil }
    let event = Int32(unsafe bytes.unsafeLoadUnaligned(as: UInt16.self))
    let value = unsafe bytes.unsafeLoadUnaligned(fromByteOffset: 2, as: Int32.self)
    if event == ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL,
      value == ZMQ_PROTOCOL_ERROR_ZMTP_MECHANISM_MISMATCH
    {
      return (.mechanismsDiffer, value)
    }
    return kinds.first { $0.0 == event }.map { ($0.1, value) }
  }
}
