internal import Foundation
internal import Primitives

/// What a pretended provider does with one request. Written as a word:
///
/// | word | meaning |
/// |---|---|
/// | `200` | as the provider does |
/// | `401`, `500`, ... | this status, nothing stored |
/// | `500html`, `502html`, `200html` | a proxy's page with this status, nothing stored |
/// | `429=5`, `503=5` | with `Retry-After: 5`; any text may stand there: `429=1e9`, `429=-3` |
/// | `429date=5` | with the date of in five seconds |
/// | `429none` | without it |
/// | `413over=N` | 413 when the body is longer than N bytes on its way, else `200` |
/// | `400one=ID` | 400 while the request holds this id, else `200` |
/// | `200errors` | a success that refuses the first event within |
/// | `reset`, `resetmid`, `close` | stored, and then reset, reset within the answer, closed |
/// | `half`, `empty` | stored; half the answer; an empty one |
/// | `slow=S`, `hang=S` | stored; the answer drips over S seconds; it comes after S seconds |
/// | `thenclose` | stored and answered, and the connection closed without a word |
/// | `text` | stored, and the answer calls itself plain text |
/// | `notzipped` | stored, and the answer says that it is gzip, which it is not |
/// | `latency=M,T` | stored; answered after M milliseconds in half of the cases, after T and more in 1 of 100 |
/// | `cut`, `cutreset` | closed, or reset, when half of the body is read; nothing stored |
public enum FaultStep: Hashable, Sendable {
  case serve
  case status(Int, retryAfter: String? = nil)
  case statusUntil(seconds: Double)
  case page(Int)
  case tooLargeOver(Int)
  case badWhileHolding(String)
  case errorsWithin
  case delivery(StubAnswer.Delivery)
  case empty
  case wrongType
  case wrongEncoding
  case latency(LatencyDistribution)
  case interrupt(StubServer.Interruption)

  public init?(_ word: String) {
    let parts = word.split(separator: "=", maxSplits: 1).map(String.init)
    let value = parts.count > 1 ? parts[1] : ""
    switch parts.first ?? "" {
    case "200": self = .serve
    case "413over":
      guard let bytes = Int(value) else { return nil }
      self = .tooLargeOver(bytes)
    case "400one": self = .badWhileHolding(value)
    case "429date":
      guard let seconds = Double(value) else { return nil }
      self = .statusUntil(seconds: seconds)
    case "429none": self = .status(429)
    case "200errors": self = .errorsWithin
    case "reset": self = .delivery(.reset)
    case "resetmid": self = .delivery(.resetMid)
    case "close": self = .delivery(.close)
    case "half": self = .delivery(.half)
    case "thenclose": self = .delivery(.thenClose)
    case "empty": self = .empty
    case "text": self = .wrongType
    case "notzipped": self = .wrongEncoding
    case "cut": self = .interrupt(.close)
    case "cutreset": self = .interrupt(.reset)
    case "latency":
      guard let latency = LatencyDistribution(value) else { return nil }
      self = .latency(latency)
    case "slow", "hang":
      guard let seconds = Double(value) else { return nil }
      let milliseconds = Int(seconds * 1000)
      self = .delivery(
        parts[0] == "slow"
          ? .slow(milliseconds: milliseconds) : .hang(milliseconds: milliseconds))
    case let first where first.hasSuffix("html"):
      guard let status = Int(first.dropLast(4)) else { return nil }
      self = .page(status)
    case let first:
      guard let status = Int(first), (100...599).contains(status) else { return nil }
      self = .status(status, retryAfter: parts.count > 1 ? value : nil)
    }
  }

  /// Steps as they are written on a command line; nil when a word is none.
  public static func script(_ text: String) -> [FaultStep]? {
    let words = text.split(separator: " ").map(String.init)
    let steps = words.compactMap(FaultStep.init)
    return steps.count == words.count && !steps.isEmpty ? steps : nil
  }

  /// The answer in the provider's place; nil when the request is served.
  func refusal(_ request: StubRequest, now: Date) -> StubAnswer? {
    switch self {
    case .serve, .errorsWithin, .delivery, .empty, .wrongType, .wrongEncoding, .latency, .interrupt:
      return nil
    case .status(let status, let wait):
      let text = status == 429 ? "slow down" : "a pretended fault"
      return StubAnswer(
        status, headers: wait.map { [("Retry-After", $0)] } ?? [], body: Array(text.utf8))
    case .statusUntil(let seconds):
      let format = DateFormatter()
      format.locale = Locale(identifier: "en_US_POSIX")
      format.timeZone = TimeZone(secondsFromGMT: 0)
      format.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
      return StubAnswer(
        429, headers: [("Retry-After", format.string(from: now.addingTimeInterval(seconds)))])
    case .page(let status): return .page(status: status)
    case .tooLargeOver(let bytes):
      return request.wireBody.count > bytes
        ? .json("{\"error\":\"too large\"}", status: 413) : nil
    case .badWhileHolding(let id):
      return request.text.contains("\"\(id)\"")
        ? .json("{\"success\":false,\"message\":\"invalid event\"}", status: 400) : nil
    }
  }

  /// How the answer of a request that was served leaves.
  func changed(
    _ answer: StubAnswer, events: Int, by random: inout SeededRandom
  ) -> StubAnswer {
    var answer = answer
    switch self {
    case .delivery(let delivery): answer.delivery = delivery
    case .latency(let latency):
      answer.delivery = .hang(milliseconds: latency.milliseconds(by: &random))
    case .empty: answer.body = []
    case .wrongType: answer.headers = [("Content-Type", "text/plain")]
    case .wrongEncoding: answer.headers.append(("Content-Encoding", "gzip"))
    case .errorsWithin:
      let list = (0..<events).map { "{\"status\":\($0 == 0 ? 413 : 201)}" }
      return .json("{\"errors\":true,\"events\":[\(list.joined(separator: ","))]}")
    default: break
    }
    return answer
  }
}
