internal import Hashing
internal import HTTPServer
internal import Primitives

/// The keys that may write. Compared by digests of one length and all of them each time, so that the
/// time tells nothing; kept as digests only, so that no dump or log has them.
struct WriteKeys: Sendable {
  private let digests: [[UInt8]]

  init(_ keys: [String]) { digests = keys.map { Self.digest(Array($0.utf8)) } }

  /// No key is asked for.
  var isOpen: Bool { digests.isEmpty }

  func allow(_ key: [UInt8]?) -> Bool {
    if isOpen { return true }
    guard let key else { return false }
    let digest = Self.digest(key)
    return digests.reduce(false) { ConstantTime.isEqual($1, digest) || $0 }
  }

  private static func digest(_ key: [UInt8]) -> [UInt8] {
    unsafe SHA256.digest(of: key.span.bytes)
  }

  /// The key that a request shows outside its body: the user of Basic authentication, else the query's
  /// `writeKey`, `write_key` or `api_key`.
  static func shown(by request: HTTPRequest) -> [UInt8]? {
    if let header = request.header("Authorization") {
      let parts = header.split(separator: " ", maxSplits: 1)
      guard parts.count == 2, parts[0].lowercased() == "basic",
        let decoded = Base64.decode(String(parts[1]).trimmed)
      else { return [] }
      return Array(decoded.prefix { $0 != UInt8(ascii: ":") })
    }
    let text =
      request.parameter("writeKey") ?? request.parameter("write_key")
      ?? request.parameter("api_key")
    return text.map { Array($0.utf8) }
  }
}

extension String {
  fileprivate var trimmed: String {
    String(drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
  }
}
