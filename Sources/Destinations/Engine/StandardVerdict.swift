public import HTTPClient
public import Primitives

extension DeliveryVerdict {
  /// The rules that hold for every provider, by status alone.
  ///
  /// | status | verdict |
  /// |---|---|
  /// | 2xx | delivered |
  /// | 408, 410, 460, 5xx | retry, or a pause when a `Retry-After` says how long |
  /// | 429 | pause |
  /// | 401, 403, 404, 405, 407, 501, 505, 508, 511 | configuration |
  /// | 1xx, 3xx | configuration: redirects are not followed, since a POST would change on its way |
  /// | 413 | too large |
  /// | other 4xx | split |
  ///
  /// A proxy's page with status 200 is no delivery: an answer in HTML is a retry. So is at first an answer
  /// that breaks off, which the client reports as a failure: see ``DeliveryCore/fail(_:_:isUnreachable:isTaken:at:)``.
  public static func standard(_ reply: HTTPReply, at now: Timestamp) -> DeliveryVerdict {
    let reason = reason(reply)
    let wait = RetryAfter.duration(
      reply.header("retry-after"), at: now, longest: longestPause)
    switch reply.status {
    case 200..<300:
      return isPage(reply) ? .retry("\(reason): no answer of the destination's own") : .delivered
    case 429: return .pause(wait, reason)
    case 401, 403, 404, 405, 407, 501, 505, 508, 511: return .configuration(reason)
    case 408, 410, 460, 500..<600: return wait.map { .pause($0, reason) } ?? .retry(reason)
    case 413: return .tooLarge(reason)
    case 400..<500: return .split(reason)
    default:
      let place = reply.header("location").map { " (to \(CleanText.clean($0, limit: 100)))" } ?? ""
      return .configuration("\(reason)\(place)")
    }
  }

  /// What an answer means whose body cannot be read (compressed otherwise than it says, or without end):
  /// its status is all there is, and the next try would get the same. So a 2xx is a delivery, since the
  /// provider says that it has the events, and a retry would give it doubles without end; whether the body
  /// refused some of them nobody knows.
  static func ofUnreadable(_ reply: HTTPReply, _ reason: String, at now: Timestamp) -> Self {
    let verdict = standard(reply, at: now)
    return verdict == .delivered
      ? .deliveredUnproven("HTTP \(reply.status), but \(reason)") : verdict
  }

  /// The status, and the beginning of the body made fit for a log line.
  public static func reason(_ reply: HTTPReply) -> String {
    let text = CleanText.snippet(reply.body)
    return text.isEmpty ? "HTTP \(reply.status)" : "HTTP \(reply.status): \(text)"
  }

  private static func isPage(_ reply: HTTPReply) -> Bool {
    if reply.header("content-type")?.lowercased().hasPrefix("text/html") ?? false { return true }
    let start = reply.body.drop { $0 <= 0x20 }.prefix(15).map { $0 | 0x20 }
    return start.starts(with: "<html".utf8)
      || start.starts(with: "<!doctype html".utf8.map { $0 | 0x20 })
  }
}
