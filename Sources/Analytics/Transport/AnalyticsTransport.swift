/// How a client's requests get to a server. Apps never see it: the client makes the system's own. Tests
/// give one of theirs, and need no network.
public protocol AnalyticsTransport: Sendable {
  /// Makes one attempt. Must end, with an error if need be, within about the request's timeout, and at
  /// once when its task is cancelled. Never retries or follows redirects: the client decides.
  func send(_ request: AnalyticsRequest) async throws(AnalyticsTransportError) -> AnalyticsResponse
}

/// One request: a POST, unless it says otherwise.
public struct AnalyticsRequest: Sendable, Hashable {
  /// A name and a value.
  public struct Header: Sendable, Hashable {
    public var name: String
    public var value: String

    public init(_ name: String, _ value: String) {
      self.name = name
      self.value = value
    }
  }

  /// The whole address.
  public var url: String
  /// In the order of sending.
  public var headers: [Header]
  /// As it goes out: compressed where a header says so.
  public var body: [UInt8]
  /// The whole of the attempt.
  public var timeout: Duration
  /// `POST` for events.
  public var method: String

  public init(
    url: String, headers: [Header] = [], body: [UInt8], timeout: Duration = .seconds(30),
    method: String = "POST"
  ) {
    self.method = method
    self.url = url
    self.headers = headers
    self.body = body
    self.timeout = timeout
  }

  /// The first header of that name, whatever its case.
  public func header(_ name: String) -> String? {
    headers.first { $0.name.lowercased() == name.lowercased() }?.value
  }
}

/// What a server answered.
public struct AnalyticsResponse: Sendable, Hashable {
  /// As in HTTP.
  public var status: Int
  /// In the order in which they came.
  public var headers: [AnalyticsRequest.Header]
  /// Decompressed.
  public var body: [UInt8]

  public init(status: Int, headers: [AnalyticsRequest.Header] = [], body: [UInt8] = []) {
    self.status = status
    self.headers = headers
    self.body = body
  }

  /// The first header of that name, whatever its case.
  public func header(_ name: String) -> String? {
    headers.first { $0.name.lowercased() == name.lowercased() }?.value
  }
}

/// Why there is no answer: no network, no such host, a timeout, a broken connection. The batch may have
/// arrived nevertheless; it is sent again under the same ids.
public struct AnalyticsTransportError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The cause, for logs; names the host, never a key.
  public var text: String

  public init(_ text: String) { self.text = text }

  public var description: String { text }
}
