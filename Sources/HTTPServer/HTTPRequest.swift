/// One request, complete: it is handed over only after its whole body has arrived.
public struct HTTPRequest: Hashable, Sendable {
  /// A name and a value, both as the client sent them.
  public struct Field: Hashable, Sendable {
    public var name: String
    public var value: String

    public init(_ name: String, _ value: String) {
      self.name = name
      self.value = value
    }
  }

  /// As sent: methods are case-sensitive.
  public var method: String
  /// Percent-decoded, without the query. Never a file name: nothing here resolves `..`.
  public var path: String
  /// The query's parameters in order, percent-decoded. `?a` and `?a=` both have an empty value.
  public var query: [Field]
  /// In order of arrival; a name may occur several times.
  public var headers: [Field]
  public var body: [UInt8]

  public init(
    method: String, path: String, query: [Field] = [], headers: [Field] = [], body: [UInt8] = []
  ) {
    self.method = method
    self.path = path
    self.query = query
    self.headers = headers
    self.body = body
  }

  /// The first header of that name in any case.
  public func header(_ name: String) -> String? {
    headers.first { sameHeader($0.name, name) }?.value
  }

  /// The first query parameter of exactly that name.
  public func parameter(_ name: String) -> String? {
    query.first { $0.name == name }?.value
  }
}

extension HTTPRequest {
  /// The path of a request's target: without `http://host`, which a client that takes this for its proxy
  /// sends along (RFC 9112, 3.2.2), and with each run of slashes as one, since an address that ends with
  /// one is put before paths that begin with one.
  static func path(ofTarget target: String) -> String {
    var bytes = Array(target.utf8)[...]
    for scheme in ["http://", "https://"]
    where sameHeader(String(decoding: bytes.prefix(scheme.utf8.count), as: UTF8.self), scheme) {
      bytes = bytes.dropFirst(scheme.utf8.count).drop { $0 != UInt8(ascii: "/") }
      if bytes.isEmpty { return "/" }
      break
    }
    var path: [UInt8] = []
    for byte in bytes where byte != UInt8(ascii: "/") || path.last != byte { path.append(byte) }
    return String(decoding: path, as: UTF8.self)
  }
}

/// Compares as HTTP does: ASCII letters in either case, other bytes exactly.
func sameHeader(_ left: String, _ right: String) -> Bool {
  left.utf8.elementsEqual(right.utf8) { lowercased($0) == lowercased($1) }
}

private func lowercased(_ byte: UInt8) -> UInt8 {
  UInt8(ascii: "A")...UInt8(ascii: "Z") ~= byte ? byte | 0x20 : byte
}
