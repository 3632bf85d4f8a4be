internal import HTTPServer

/// The form in which a client wants its answer.
enum AnswerStyle: Sendable {
  case segment
  case mixpanel(MixpanelAnswer.Style)

  init(_ request: HTTPRequest, _ route: CollectorRoute, limit: Int) {
    self =
      route.isMixpanel
      ? .mixpanel(MixpanelBody.style(of: request, route, limit: limit)) : .segment
  }

  func results(_ verdicts: Verdicts) -> HTTPResponse {
    switch self {
    case .segment: SegmentAnswer.results(verdicts)
    case .mixpanel(let style): MixpanelAnswer.results(verdicts, style)
    }
  }

  func failure(_ failure: RequestFailure) -> HTTPResponse {
    var answer =
      switch self {
      case .segment: SegmentAnswer.failure(failure)
      case .mixpanel(let style): MixpanelAnswer.failure(failure, style)
      }
    if let seconds = failure.retryAfter {
      answer.headers.append(.init("Retry-After", String(seconds)))
    }
    if failure.status == 401 {
      answer.headers.append(.init("WWW-Authenticate", "Basic realm=\"eventbus\""))
    }
    return answer
  }
}
