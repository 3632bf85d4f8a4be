/// The answer to one request. The length, the date and the connection's headers are added on sending;
/// to HEAD the body is not sent but its length is told.
public struct HTTPResponse: Hashable, Sendable {
  /// 200...599.
  public var status: UInt32
  /// Empty: the header is left out.
  public var contentType: String
  /// Further headers. One with a line break in it is never sent: the client gets 500 instead.
  public var headers: [HTTPRequest.Field]
  public var body: [UInt8]

  public init(
    status: UInt32 = 200, contentType: String = "", headers: [HTTPRequest.Field] = [],
    body: [UInt8] = []
  ) {
    precondition(200...599 ~= status, "a final HTTP status is 200...599")
    self.status = status
    self.contentType = contentType
    self.headers = headers
    self.body = body
  }

  /// Plain text in UTF-8.
  public static func text(_ text: String, status: UInt32 = 200) -> HTTPResponse {
    HTTPResponse(
      status: status, contentType: "text/plain; charset=utf-8", body: Array(text.utf8))
  }

  /// What the server itself answers in place of a handler: `{"success":false,"code":...,"message":...}`, as
  /// Segment writes failures. Code and message are the server's own words, without anything to escape.
  static func refusal(_ status: UInt32, _ code: String, _ message: String) -> HTTPResponse {
    .json(
      Array("{\"success\":false,\"code\":\"\(code)\",\"message\":\"\(message)\"}".utf8),
      status: status)
  }

  /// A document that is JSON already.
  public static func json(_ document: [UInt8], status: UInt32 = 200) -> HTTPResponse {
    HTTPResponse(status: status, contentType: "application/json", body: document)
  }
}
