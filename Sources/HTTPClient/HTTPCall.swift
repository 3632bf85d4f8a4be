/// One request to be made.
public struct HTTPCall: Hashable, Sendable {
  public var method: String
  /// Usually from ``HTTPEndpoint/url(_:query:)``.
  public var url: String
  /// Sent in this order; `Content-Length` and `Host` are added. A line break in one is refused.
  public var headers: [HTTPHeader]
  public var body: [UInt8]
  /// Ask the name service again and connect anew, as after a destination's 5xx: it may have moved.
  public var wantsFreshConnection: Bool

  public init(
    _ url: String, method: String = "POST", headers: [HTTPHeader] = [], body: [UInt8] = [],
    wantsFreshConnection: Bool = false
  ) {
    self.method = method
    self.url = url
    self.headers = headers
    self.body = body
    self.wantsFreshConnection = wantsFreshConnection
  }
}

/// A name and a value.
public struct HTTPHeader: Hashable, Sendable {
  public var name: String
  public var value: String

  public init(_ name: String, _ value: String) {
    self.name = name
    self.value = value
  }

  /// Whether it can be sent as one line.
  public var isValid: Bool {
    !name.isEmpty && name.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: ":") }
      && value.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }
  }
}
