internal import CZeroMQ

#if canImport(Glibc)
  internal import Glibc
#else
  internal import Darwin
#endif

/// A failed call of libzmq: which call, on what, and what to do about it.
public struct TransportError: Error, Hashable, Sendable, CustomStringConvertible {
  public enum Kind: Hashable, Sendable {
    /// Another socket is bound to the address.
    case addressInUse
    /// The address cannot be parsed, or names no interface of this machine.
    case badAddress
    /// A ROUTER knows no peer of that id: it has gone.
    case unreachable
    /// The context was shut down: leave the loop and close the socket.
    case terminated
    /// No more files or sockets can be opened.
    case exhausted
    case other
  }

  public var kind: Kind
  /// The name of the call, as in `zmq_bind`.
  public var call: String
  public var code: Int32
  public var address: String

  /// The error of the call that just failed; must be the first thing after it.
  static func last(_ call: String, _ address: String = "") -> TransportError {
    let code = zmq_errno()
    let kind: Kind =
      switch code {
      case EADDRINUSE: .addressInUse
      case EINVAL where call == "zmq_bind" || call == "zmq_connect": .badAddress
      case ENODEV, EADDRNOTAVAIL, EPROTONOSUPPORT: .badAddress
      case EHOSTUNREACH: .unreachable
      case ETERM: .terminated
      case EMFILE, ENFILE: .exhausted
      default: .other
      }
    return TransportError(kind: kind, call: call, code: code, address: address)
  }

  public var description: String {
    let reason = unsafe String(cString: zmq_strerror(code))
    return switch kind {
    case .addressInUse: "\(address) is in use by another process: stop it, or choose other ports"
    case .badAddress:
      "'\(address)' is no address to use here (\(reason)); it reads like tcp://127.0.0.1:7400"
    case .unreachable: "the peer has gone: forget its session; it opens a new one when it returns"
    case .terminated: "the messaging context was shut down: close the socket and leave"
    case .exhausted: "\(call): \(reason): raise the limit of open files"
    default: address.isEmpty ? "\(call): \(reason)" : "\(call) \(address): \(reason)"
    }
  }
}

/// The one funnel for results of libzmq: retries what a signal interrupted, throws the rest.
@discardableResult
func check(
  _ call: String, _ address: String = "", _ body: () -> Int32
) throws(TransportError) -> Int32 {
  while true {
    let result = body()
    if result >= 0 { return result }
    if zmq_errno() == EINTR { continue }
    throw TransportError.last(call, address)
  }
}

/// The same for calls that may have to wait: false when they would.
func checkReady(_ call: String, _ body: () -> Int32) throws(TransportError) -> Bool {
  while true {
    if body() >= 0 { return true }
    switch zmq_errno() {
    case EINTR: continue
    case EAGAIN: return false
    default: throw TransportError.last(call)
    }
  }
}
