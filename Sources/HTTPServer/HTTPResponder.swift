/// The way back of one request: `answer` it once, at any time and from any thread.
///
/// Until then the connection waits without holding a thread of the server. A request that its handler
/// forgot is answered with 500 when the last copy of this goes, so no client waits for ever.
public final class HTTPResponder: Sendable {
  private let exchange: Exchange
  private let service: HTTPService

  init(_ exchange: Exchange, _ service: HTTPService) {
    self.exchange = exchange
    self.service = service
  }

  deinit { exchange.answer(.refusal(500, "dropped", "the request was dropped")) }

  /// Sends the answer. The second of one request is ignored, and so is that to a client that has left.
  public func answer(_ response: HTTPResponse) { exchange.answer(response) }

  /// Answers with a head, whose body is left out, and with what is sent afterwards. Nil: there are
  /// `HTTPLimits.streams` already, and the client was told to come again later, or it has left.
  public func stream(_ head: HTTPResponse) -> HTTPStream? {
    guard let stream = service.stream(for: exchange) else { return nil }
    if exchange.answer(.stream(head, stream)) { return stream }
    service.forget(stream)
    return nil
  }
}
