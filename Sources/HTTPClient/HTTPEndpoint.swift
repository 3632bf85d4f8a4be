internal import Primitives

/// An address that requests go to: `https://host[:port][/path][?query]`, checked.
///
/// Credentials in the address are refused: it is printed in logs and in errors.
public struct HTTPEndpoint: Hashable, Sendable, CustomStringConvertible {
  /// Without a final `/` and without the query.
  public let base: String
  /// What stands after `?`; empty when there is none.
  public let query: String
  /// The host, with its port where one was given: what errors name.
  public let host: String
  public let isEncrypted: Bool

  public init(_ text: String) throws(HTTPEndpointError) {
    guard text.utf8.count <= 2000 else { throw .tooLong }
    guard text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && !"\"<>\\^`{|}".utf8.contains($0) })
    else { throw .character(text) }
    let lower = text.prefix(8).lowercased()
    let scheme = ["https://", "http://"].first { lower.hasPrefix($0) }
    guard let scheme else { throw .scheme(text) }
    isEncrypted = scheme == "https://"
    let rest = text.dropFirst(scheme.count)
    guard !rest.utf8.contains(UInt8(ascii: "#")) else { throw .fragment(text) }
    let authority = rest.prefix { $0 != "/" && $0 != "?" }
    guard !authority.utf8.contains(UInt8(ascii: "@")) else { throw .credentials }
    host = String(authority)
    guard Self.isHost(host) else { throw .host(text) }
    let path = rest.dropFirst(authority.count)
    let question = path.firstIndex(of: "?") ?? path.endIndex
    query = String(path[question...].dropFirst())
    var trimmed = path[..<question]
    while trimmed.last == "/" { trimmed.removeLast() }
    base = scheme + host + trimmed
  }

  /// The address of `path`, which begins with `/`, below this one; further parameters go before the
  /// query that was given, so that what a person wrote stays.
  public func url(_ path: String = "", query added: String = "") -> String {
    let parameters = [added, query].filter { !$0.isEmpty }.joined(separator: "&")
    return base + path + (parameters.isEmpty ? "" : "?" + parameters)
  }

  /// Whether only this machine can be meant.
  public var isLoopback: Bool {
    let name = Self.split(host).name.lowercased()
    return Loopback.contains(name == "[::1]" ? "::1" : name)
  }

  public var description: String { url() }

  private static func isHost(_ host: String) -> Bool {
    let (name, port) = split(host)
    guard !name.isEmpty, name != "[]" else { return false }
    guard let port else { return true }
    return (1...65535).contains(Int(port) ?? 0)
  }

  /// The name and the port's text. An IPv6 address stands in brackets.
  private static func split(_ host: String) -> (name: Substring, port: Substring?) {
    let end = host.hasPrefix("[") ? host.firstIndex(of: "]") ?? host.startIndex : host.startIndex
    guard let colon = host[end...].firstIndex(of: ":") else { return (host[...], nil) }
    return (host[..<colon], host[host.index(after: colon)...])
  }
}

/// Why a text is no address for requests.
public enum HTTPEndpointError: Error, Hashable, Sendable, CustomStringConvertible {
  case scheme(String)
  case host(String)
  case character(String)
  case fragment(String)
  case credentials
  case tooLong

  public var description: String {
    switch self {
    case .scheme(let text): "\"\(text)\" is no address: it must begin with https:// or http://"
    case .host(let text): "\"\(text)\" names no host: write https://host[:port][/path]"
    case .character(let text): "\"\(text)\" holds a character that must be written as %XX"
    case .fragment(let text): "\"\(text)\" has a part after #, which is never sent: leave it out"
    case .credentials:
      "an address with a user or password in it would be logged: use the options for credentials"
    case .tooLong: "the address has more than 2000 bytes"
    }
  }
}
