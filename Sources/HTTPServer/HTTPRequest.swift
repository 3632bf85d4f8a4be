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

  /// What to tell who gave a parameter that is none of these, or one of them twice; nil when nobody did.
  /// Passed over, a slip in a name would get the answer to another question.
  public func parameterFault(besides known: [String]) -> String? {
    var given: Set<String> = []
    for field in query where !field.name.isEmpty {
      guard known.contains(field.name) else {
        // Only what is harmless whatever shows it.
        let name = field.name.utf8.prefix(40).map { isNameByte($0) ? $0 : UInt8(ascii: "?") }
        let list = known.isEmpty ? "no parameters" : known.joined(separator: ", ")
        return
          "unknown parameter '\(String(decoding: name, as: UTF8.self))': this address takes \(list)"
      }
      guard given.insert(field.name).inserted else {
        return "parameter '\(field.name)' is given twice"
      }
    }
    return nil
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

private func isNameByte(_ byte: UInt8) -> Bool {
  let isDigit = UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte
  let isLetter = UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte | 0x20
  return isDigit || isLetter
    || [UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: ".")].contains(byte)
}
