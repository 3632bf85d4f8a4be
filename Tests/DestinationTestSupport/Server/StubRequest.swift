/// What a pretended server was asked.
public struct StubRequest: Sendable {
  /// In order of arrival at the server, from 1.
  public var number: Int
  /// When it was there as a whole, nanoseconds of the monotonic clock.
  public var time: Int64
  /// Which connection it came over, from 1.
  public var connection: Int
  public var method: String
  public var path: String
  /// As it stood behind `?`, not decoded.
  public var query: String
  /// Names in lower case.
  public var headers: [String: String]
  /// As it travelled.
  public var wireBody: [UInt8]
  /// Unpacked where it was gzip.
  public var body: [UInt8]

  public var text: String { String(decoding: body, as: UTF8.self) }
}

/// What it answers, and how that travels.
public struct StubAnswer: Sendable {
  public enum Delivery: Hashable, Sendable {
    case whole
    /// Everything is read, then the connection is reset without an answer.
    case reset
    /// The beginning of the answer, then a reset.
    case resetMid
    /// Closed without an answer.
    case close
    /// The head and half the body, then closed.
    case half
    /// The answer after so many milliseconds.
    case hang(milliseconds: Int)
    /// Byte by byte over so many milliseconds.
    case slow(milliseconds: Int)
    /// Whole, and then the connection is closed without having said so.
    case thenClose
  }

  public var status: Int
  public var headers: [(String, String)]
  public var body: [UInt8]
  public var delivery: Delivery

  public init(
    _ status: Int = 200, headers: [(String, String)] = [], body: [UInt8] = [],
    delivery: Delivery = .whole
  ) {
    self.status = status
    self.headers = headers
    self.body = body
    self.delivery = delivery
  }

  public static func json(_ text: String, status: Int = 200) -> StubAnswer {
    StubAnswer(status, headers: [("Content-Type", "application/json")], body: Array(text.utf8))
  }

  /// What a proxy says in a provider's place.
  public static func page(status: Int) -> StubAnswer {
    let text =
      "<html><head><title>\(status) Bad Gateway</title></head><body><h1>Bad Gateway</h1></body></html>"
    return StubAnswer(status, headers: [("Content-Type", "text/html")], body: Array(text.utf8))
  }

  var bytes: [UInt8] {
    var head = "HTTP/1.1 \(status) Status\r\nContent-Length: \(body.count)\r\n"
    for (name, value) in headers { head += "\(name): \(value)\r\n" }
    return Array((head + "\r\n").utf8) + body
  }
}
