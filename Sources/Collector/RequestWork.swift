internal import BusClient
internal import BusProtocol
internal import HTTPServer
internal import Primitives

/// Takes one request from its arrival to its answer.
struct RequestWork: Sendable {
  let producer: Producer
  let core: CorePool
  let shared: CollectorShared
  let pending: PendingRequests
  let inDoubt = InDoubt<PublishReceipt>()
  /// Nanoseconds that a request may wait for the bus.
  let deadline: Int64
  let maximumBodyBytes: Int
  let plan: PlanAnswer

  func handle(_ request: HTTPRequest, _ responder: HTTPResponder) {
    if request.path == PlanAnswer.path { return plan.handle(request, responder) }
    guard let route = CollectorRoute.named(request.path) else {
      return responder.answer(Self.elsewhere(request))
    }
    guard request.method == "POST" || (request.method == "GET" && route == .mixpanelTrack) else {
      return responder.answer(Self.otherMethod(request))
    }
    let exchange = Answering(
      responder: responder, request: Self.head(of: request), route: route,
      style: AnswerStyle(request, route, limit: maximumBodyBytes), shared: shared)
    if let mark = request.header(BusMark.header), shared.isOwnBus(mark) {
      return exchange.fail(.loop)
    }
    shared.countBody(request.body.count)
    do throws(RequestFailure) {
      let decision = try core.with { core throws(RequestFailure) in
        try core.decide(request, route, receivedAt: SystemClock.realtime())
      }
      switch decision {
      case .answer(let response): exchange.answer(response)
      case .publish(let verdicts): try publish(verdicts, exchange)
      }
    } catch {
      exchange.fail(error)
    }
  }

  private func publish(_ verdicts: Verdicts, _ exchange: Answering) throws(RequestFailure) {
    // Made while the events are on their way, as it nearly always is what is answered.
    guard !verdicts.events.isEmpty else { return exchange.answer(verdicts) }
    let now = SystemClock.monotonic()
    let key = verdicts.identity
    if let receipt = inDoubt.receipt(of: key, at: now) {
      return exchange.answer(verdicts.applying(receipt))
    }
    if let refusal = shared.refusal(at: now) { throw RequestFailure(refusal) }
    let id = pending.add(deadline: now + deadline) { exchange.expire() }
    /// False: it came too late, and the client was told to send it again.
    let answer: @Sendable (PublishReceipt?) -> Bool = { [pending] receipt in
      guard pending.settle(id) else { return false }
      if let receipt {
        exchange.answer(verdicts.applying(receipt))
      } else {
        exchange.fail(Self.notStored)
      }
      return true
    }
    guard inDoubt.begin(key, orJoin: { _ = answer($0) }) else { return }
    do throws(BusClientError) {
      try producer.publish(verdicts.events) { [inDoubt] receipt in
        let stored = receipt.lost > 0 ? nil : receipt
        let wasTold = answer(stored)
        inDoubt.finish(key, stored, wasTold: wasTold, at: SystemClock.monotonic())
      }
    } catch {
      _ = pending.settle(id)
      inDoubt.finish(key, nil, wasTold: true, at: now)
      throw Self.failure(error)
    }
  }

  private static let notStored = RequestFailure(
    503, "stopping", "the collector could not pass it on; send it again", retryAfter: 5)

  private static func failure(_ error: BusClientError) -> RequestFailure {
    switch error {
    case .full:
      RequestFailure(429, "slow_down", "\(error); send it again", retryAfter: 1)
    default:
      RequestFailure(503, "bus_away", "\(error); send it again", retryAfter: 5)
    }
  }

  /// Without its body, which is not needed any longer.
  private static func head(of request: HTTPRequest) -> HTTPRequest {
    var head = request
    head.body = []
    return head
  }

  private static func elsewhere(_ request: HTTPRequest) -> HTTPResponse {
    if request.path == "/healthz" { return .text("ok\n") }
    return CrossOrigin.allow(
      SegmentAnswer.failure(RequestFailure(404, "not_found", "no such path")), request)
  }

  private static func otherMethod(_ request: HTTPRequest) -> HTTPResponse {
    if request.method == "OPTIONS" { return CrossOrigin.preflight(request) }
    var answer = SegmentAnswer.failure(RequestFailure(405, "wrong_method", "use POST"))
    answer.headers = [.init("Allow", "POST, OPTIONS")]
    return CrossOrigin.allow(answer, request)
  }
}

/// One request's way back, with what its answer depends on.
struct Answering: Sendable {
  let responder: HTTPResponder
  let request: HTTPRequest
  let route: CollectorRoute
  let style: AnswerStyle
  let shared: CollectorShared

  func answer(_ verdicts: Verdicts) { send(style.results(verdicts), verdicts) }
  func answer(_ response: HTTPResponse) { send(response, nil) }
  func fail(_ failure: RequestFailure) { send(style.failure(failure), nil) }

  /// The bus did not acknowledge in time. It may do so yet: the client sends again under the same
  /// messageIds, by which doubles are found.
  func expire() {
    if let refusal = shared.refusal(at: SystemClock.monotonic()) {
      return fail(RequestFailure(refusal))
    }
    fail(
      RequestFailure(
        503, "bus_slow", "the bus did not acknowledge in time; send it again", retryAfter: 5))
  }

  private func send(_ response: HTTPResponse, _ verdicts: Verdicts?) {
    shared.count(route.label, status: response.status, verdicts)
    responder.answer(CrossOrigin.allow(response, request))
  }
}
