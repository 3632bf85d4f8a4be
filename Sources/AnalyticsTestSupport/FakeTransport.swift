public import Analytics
internal import EventCodec
internal import Gzip
internal import Synchronization

/// A server without a network: plays answers, and keeps what it was sent.
public final class FakeTransport: AnalyticsTransport {
  /// What a request is answered with.
  public enum Answer: Sendable, Hashable {
    case response(AnalyticsResponse)
    /// No answer: the network is gone.
    case failure(String)
    /// Waits for `release`, then takes the next one.
    case hold

    /// 200 without a body: the whole batch is taken.
    public static let success = Answer.status(200)

    /// A response of parts.
    public static func status(
      _ status: Int, headers: [(String, String)] = [], body: String = ""
    ) -> Answer {
      .response(
        AnalyticsResponse(
          status: status, headers: headers.map { .init($0.0, $0.1) }, body: Array(body.utf8)))
    }
  }

  /// One request and what was answered; nil while it is under way.
  public struct Exchange: Sendable {
    /// As it was sent.
    public var request: AnalyticsRequest
    /// The events of the request, as JSON objects.
    public var events: [PropertyObject]
    /// Nil while the request is under way.
    public var answer: Answer?
  }

  private struct State {
    var script: [Answer]
    var rest: Answer
    var exchanges: [Exchange] = []
    var held: [CheckedContinuation<Void, Never>] = []
    var underWay = 0
    var mostUnderWay = 0
  }

  private let state: Mutex<State>

  /// - Parameters:
  ///   - script: the first answers, in order.
  ///   - rest: each answer after those.
  public init(_ script: [Answer] = [], rest: Answer = .success) {
    state = Mutex(State(script: script, rest: rest))
  }

  public func send(
    _ request: AnalyticsRequest
  ) async throws(AnalyticsTransportError) -> AnalyticsResponse {
    let events = Self.events(of: request)
    let index = state.withLock { state in
      state.exchanges.append(Exchange(request: request, events: events))
      state.underWay += 1
      state.mostUnderWay = max(state.mostUnderWay, state.underWay)
      return state.exchanges.count - 1
    }
    defer { state.withLock { $0.underWay -= 1 } }
    while true {
      let answer = state.withLock { $0.script.isEmpty ? $0.rest : $0.script.removeFirst() }
      if answer == .hold {
        await withCheckedContinuation { waiter in state.withLock { $0.held.append(waiter) } }
        continue
      }
      state.withLock { $0.exchanges[index].answer = answer }
      switch answer {
      case .response(let response): return response
      case .failure(let text): throw AnalyticsTransportError(text)
      case .hold: break
      }
    }
  }

  /// Lets requests go on that are held.
  public func release() {
    let held = state.withLock { state in
      let held = state.held
      state.held = []
      return held
    }
    for waiter in held { waiter.resume() }
  }

  /// What is answered from now on.
  public func answer(_ script: [Answer] = [], rest: Answer) {
    state.withLock {
      $0.script = script
      $0.rest = rest
    }
  }

  /// Every request so far, in order.
  public var exchanges: [Exchange] { state.withLock { $0.exchanges } }
  /// The requests of ``exchanges``.
  public var requests: [AnalyticsRequest] { exchanges.map(\.request) }
  /// Requests that are held now.
  public var heldCount: Int { state.withLock { $0.held.count } }

  /// The most requests that were under way at one time.
  public var mostUnderWay: Int { state.withLock { $0.mostUnderWay } }

  /// The events of requests that were answered with success, in order.
  public var acceptedEvents: [PropertyObject] {
    exchanges.flatMap { exchange -> [PropertyObject] in
      guard case .response(let answer)? = exchange.answer, (200..<300).contains(answer.status)
      else { return [] }
      return exchange.events
    }
  }

  /// Their names.
  public var acceptedNames: [String] { acceptedEvents.compactMap { $0["event"]?.stringValue } }

  private static func events(of request: AnalyticsRequest) -> [PropertyObject] {
    var body = request.body
    do {
      if request.header("content-encoding") == "gzip" {
        var stream = try GunzipStream()
        var plain: [UInt8] = []
        try unsafe stream.read(body.span.bytes, into: &plain, limit: 256 << 20)
        try stream.finish()
        body = plain
      }
      guard case .array(let events) = try unsafe PropertyValue(json: body.span.bytes) else {
        return []
      }
      return events.compactMap(\.objectValue)
    } catch {
      return []
    }
  }
}
