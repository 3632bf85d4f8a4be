public import Primitives

/// Why a server could not start.
public enum HTTPServerError: Error, Hashable, Sendable, CustomStringConvertible {
  /// Another socket listens there.
  case addressInUse(host: String, port: UInt16)
  /// A port below 1024, for instance.
  case notPermitted(host: String, port: UInt16)
  /// The host is no address of this machine, or no address at all.
  case badAddress(host: String, reason: String)
  case system(SystemError)
  /// The certificate or the key of a TLS identity could not be used.
  case identityRefused
  /// libmicrohttpd refused to start; it does not say why.
  case notStarted(host: String, port: UInt16)

  public var description: String {
    switch self {
    case .addressInUse(let host, let port):
      "\(host) port \(port) is in use: stop the program that listens there, or choose another port"
    case .notPermitted(let host, let port):
      "no permission to listen on \(host) port \(port): choose a port from 1024 on"
    case .badAddress(let host, let reason):
      "cannot listen on \"\(host)\" (\(reason)): give an address of this machine"
    case .system(let error): "cannot listen: \(error)"
    case .identityRefused:
      "the TLS certificate or its key cannot be used: both must be PEM, and belong together"
    case .notStarted(let host, let port):
      "the HTTP server on \(host) port \(port) did not start: "
        + "look for limits on threads or open files"
    }
  }
}
