internal import EventCodec
internal import EventModel
internal import Primitives

/// What an attempt came to, as the core needs it.
enum RequestOutcome: Hashable, Sendable {
  /// The server has the batch, but for the events that it refuses by their index.
  case delivered(refused: [Int: String])
  /// The batch is too large.
  case tooLarge(String)
  /// Something in the batch is not to the server's liking.
  case rejected(String)
  /// Not now: network, overload. `wait` where the server said how long.
  case failed(String, wait: Duration?)
  /// Not until somebody mends something: key, address.
  case misconfigured(String)
}

/// Rules by status:
///
/// | status | outcome |
/// |---|---|
/// | 2xx | delivered; a page in HTML is a failure: a portal answered, not the collector |
/// | 413 | too large |
/// | 401, 403, 404, 405, 407, 501, 505, 511, 1xx, 3xx | misconfigured |
/// | 408, 410, 429, 460, 5xx, none at all | failed |
/// | other 4xx | rejected |
extension RequestOutcome {
  init(_ answer: AnalyticsResponse, events: Int, at now: Timestamp, longest: Duration) {
    let reason = Self.reason(answer)
    switch answer.status {
    case 200..<300:
      self =
        Self.isPage(answer)
        ? .failed("\(reason): a page in HTML, not the collector's answer", wait: nil)
        : .delivered(refused: Self.refusals(answer.body, events: events))
    case 413: self = .tooLarge(reason)
    case 408, 410, 429, 460: self = .failed(reason, wait: Self.wait(answer, now, longest))
    case 401, 403, 404, 405, 407, 501, 505, 511: self = .misconfigured(reason)
    case 500..<600: self = .failed(reason, wait: Self.wait(answer, now, longest))
    case 400..<500: self = .rejected(reason)
    default: self = .misconfigured(reason)
    }
  }

  private static func wait(
    _ answer: AnalyticsResponse, _ now: Timestamp, _ longest: Duration
  ) -> Duration? {
    RetryAfter.duration(answer.header("retry-after"), at: now, longest: longest)
  }

  /// The status, and the beginning of the body without what a terminal would act upon.
  private static func reason(_ answer: AnalyticsResponse) -> String {
    let start = String(decoding: answer.body.prefix(200), as: UTF8.self)
    let text = start.unicodeScalars.filter { $0.value >= 0x20 && $0.value != 0x7F }
    let clean = String(String.UnicodeScalarView(text))
    return clean.isEmpty ? "HTTP \(answer.status)" : "HTTP \(answer.status): \(clean)"
  }

  private static func isPage(_ answer: AnalyticsResponse) -> Bool {
    if answer.header("content-type")?.lowercased().hasPrefix("text/html") ?? false { return true }
    let start = answer.body.drop { $0 <= 0x20 }.prefix(15).map { $0 | 0x20 }
    return start.starts(with: "<html".utf8)
      || start.starts(with: "<!doctype html".utf8.map { $0 | 0x20 })
  }

  /// The collector's `results`: what is not STORED will never be. A body of another kind refuses nothing.
  private static func refusals(_ body: [UInt8], events: Int) -> [Int: String] {
    guard body.first == UInt8(ascii: "{") else { return [:] }
    let answer: PropertyValue
    do throws(CodecError) {
      answer = try unsafe PropertyValue(json: body.span.bytes)
    } catch {
      return [:]
    }
    guard case .array(let results)? = answer.objectValue?["results"] else { return [:] }
    var refused: [Int: String] = [:]
    for case .object(let result) in results {
      guard let index = result["index"]?.intValue, (0..<Int64(events)).contains(index),
        let code = result["code"]?.stringValue, code != "STORED"
      else { continue }
      refused[Int(index)] = "\(code): \(result["reason"]?.stringValue ?? "no reason given")"
    }
    return refused
  }
}
