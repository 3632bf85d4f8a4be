/// The way back of one request: `answer` it once, at any time and from any thread.
///
/// Until then the connection waits without holding a thread of the server. A request that its handler
/// forgot is answered with 500 when the last copy of this goes, so no client waits for ever.
public final class HTTPResponder: Sendable {
  private let exchange: Exchange

  init(_ exchange: Exchange) { self.exchange = exchange }

  deinit { exchange.answer(.text("the request was dropped\n", status: 500)) }

  /// Sends the answer. The second of one request is ignored, and so is that to a client that has left.
  public func answer(_ response: HTTPResponse) { exchange.answer(response) }
}
