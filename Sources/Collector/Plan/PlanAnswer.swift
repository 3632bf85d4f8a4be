internal import HTTPServer
internal import Primitives
internal import TrackingPlan

/// Answers `GET /v1/plan`.
///
/// Everybody may ask: a plan is in every app as much as its write key is. `ETag` and `If-None-Match` make
/// an unchanged plan cheap; with `?wait=SECONDS` (60 at most) that answer waits for a change. Another parameter is
/// refused; not so where events are sent: there it changes nothing, and its refusal would cost the events.
struct PlanAnswer: Sendable {
  static let path = "/v1/plan"
  private static let longestWait = 60

  let holder: PlanHolder
  let pending: PendingRequests

  func handle(_ request: HTTPRequest, _ responder: HTTPResponder) {
    @Sendable func answer(_ response: HTTPResponse) {
      responder.answer(CrossOrigin.allow(response, request))
    }
    guard request.method == "GET" || request.method == "HEAD" else {
      guard request.method == "OPTIONS" else {
        var refusal = HTTPResponse.text("use GET\n", status: 405)
        refusal.headers = [.init("Allow", "GET, HEAD, OPTIONS")]
        return answer(refusal)
      }
      return responder.answer(CrossOrigin.preflight(request))
    }
    let seconds: Int
    switch Self.wait(request) {
    case .success(let given): seconds = given
    case .failure(let fault): return answer(.text("\(fault.text)\n", status: 400))
    }
    guard let plan = holder.current else {
      return answer(
        .text("there is no plan; `eventbus plan publish FILE` gives one\n", status: 404))
    }
    guard let known = request.header("If-None-Match"), Self.isNamed(plan, in: known) else {
      return answer(Self.response(plan))
    }
    guard seconds > 0 else { return answer(Self.unchanged(plan)) }
    wait(plan, seconds, answer)
  }

  private struct Fault: Error { var text: String }

  /// Seconds.
  private static func wait(_ request: HTTPRequest) -> Result<Int, Fault> {
    if let fault = request.parameterFault(besides: ["wait"]) {
      return .failure(Fault(text: fault))
    }
    guard let text = request.parameter("wait"), !text.isEmpty else { return .success(0) }
    guard let seconds = Int(text), seconds >= 0 else {
      return .failure(Fault(text: "wait must be a whole number of seconds"))
    }
    return .success(min(seconds, longestWait))
  }

  private func wait(
    _ plan: PublishedPlan, _ seconds: Int, _ answer: @escaping @Sendable (HTTPResponse) -> Void
  ) {
    guard let id = holder.wait(plan.tag, answer) else {
      return answer(holder.current.map(Self.response) ?? Self.unchanged(plan))
    }
    let deadline = SystemClock.monotonic() + Int64(seconds) * 1_000_000_000
    _ = pending.add(deadline: deadline) { [holder] in
      // The second answer to a request is ignored, so it does not matter who is first.
      holder.forget(id)
      answer(Self.unchanged(plan))
    }
  }

  static func response(_ plan: PublishedPlan) -> HTTPResponse {
    var response = HTTPResponse.json(plan.bytes)
    response.headers = headers(plan)
    return response
  }

  static func unchanged(_ plan: PublishedPlan) -> HTTPResponse {
    HTTPResponse(status: 304, headers: headers(plan))
  }

  private static func headers(_ plan: PublishedPlan) -> [HTTPRequest.Field] {
    // Caches on the way may keep it, and ask each time whether it is still the one.
    [.init("ETag", "\"\(plan.tag)\""), .init("Cache-Control", "public, no-cache")]
  }

  /// `"7-1f"`, `W/"7-1f"`, a list of such, or `*`.
  private static func isNamed(_ plan: PublishedPlan, in header: String) -> Bool {
    header.split(separator: ",").contains { part in
      let name = part.drop { $0 == " " }.prefix { $0 != " " }
      return name == "*" || name == "\"\(plan.tag)\"" || name == "W/\"\(plan.tag)\""
    }
  }
}
