internal import Primitives

/// The names under which a server on a loopback address answers: those that this machine has for itself.
///
/// A page of another site can have its name lead to 127.0.0.1 (DNS rebinding); the visitor's browser then lets
/// it read what answers there. Its requests give themselves away by that name in `Host`. Where others than this
/// machine reach the address, names are their business, and nothing is checked.
public struct OwnNames: Sendable {
  private let host: String
  private let isLoopback: Bool

  /// - Parameter host: the address listened on.
  public init(listeningOn host: String) {
    self.host = host.lowercased()
    isLoopback = Loopback.contains(self.host)
  }

  /// Whether it came under one of them. A request without the header comes from no browser.
  public func include(_ request: HTTPRequest) -> Bool {
    guard isLoopback, let header = request.header("Host") else { return true }
    let name = Self.name(inHost: header.lowercased())
    return name == host || Loopback.contains(String(name))
  }

  /// `localhost` of `localhost:7420`, `::1` of `[::1]:7420`.
  private static func name(inHost header: String) -> Substring {
    if header.hasPrefix("["), let end = header.firstIndex(of: "]") {
      return header[..<end].dropFirst()
    }
    return header.prefix { $0 != ":" }
  }
}
