internal import Foundation
public import Primitives

/// Segment's HTTP tracking API: what it takes, what it answers, and what it loses without a word.
public struct FakeSegment: FakeProvider {
  public var writeKey: String
  /// Whether an event without userId and anonymousId costs the request a 400; the documentation says
  /// both.
  public var refusesWithoutID = false
  public var quota = FakeQuota()
  /// Requests in one second; more get 429.
  public var requestsPerSecond: Int?
  /// Off for measuring: the check costs more than all the rest.
  public var checksJSON = true
  private var second: Int64 = 0
  private var requestsInSecond = 0

  static let mostBatchBytes = 500_000
  static let mostEventBytes = 32_768
  static let mostEvents = 2500

  public init(writeKey: String = "test-key") { self.writeKey = writeKey }

  public mutating func answer(
    _ request: StubRequest, at now: Timestamp, _ ledger: inout FakeLedger
  ) -> (answer: StubAnswer, events: Int) {
    let kinds = ["identify", "track", "page", "screen", "group", "alias", "batch", "import"]
    guard request.method == "POST", request.path.hasPrefix("/v1/"),
      kinds.contains(String(request.path.dropFirst(4)))
    else { return (StubAnswer(404), 0) }
    if isOverRate(now) {
      let wait = [("Retry-After", "1"), ("X-RateLimit-Reset", "1")]
      return (StubAnswer(429, headers: wait), 0)
    }
    guard !checksJSON || JSONPiece.isJSON(request.body) else {
      return (Self.error("malformed JSON"), 0)
    }
    let body = JSONPiece(request.body[...])
    let isBatch = request.path == "/v1/batch" || request.path == "/v1/import"
    let events = isBatch ? body["batch"]?.elements ?? [] : [body]
    guard request.body.count <= (isBatch ? Self.mostBatchBytes : Self.mostEventBytes),
      events.allSatisfy({ $0.bytes.count <= Self.mostEventBytes })
    else { return (Self.error("Exceed payload limit"), 0) }
    if refusesWithoutID, events.contains(where: { Self.user(of: $0.fields) == nil }) {
      return (Self.error("no_user_anon_id"), 0)
    }
    if let refusal = quota.refusal(events.count, at: now) { return (refusal, 0) }
    let key = key(request) ?? body["writeKey"]?.string
    let offset = Self.offset(body["sentAt"]?.string, now)
    for (index, event) in events.enumerated() {
      let fault =
        index >= Self.mostEvents ? "over 2,500 events" : key == writeKey ? nil : "bad writeKey"
      store(event, request.number, offset, fault, &ledger)
    }
    return (.json("{\"success\":true}"), events.count)
  }

  private mutating func store(
    _ event: JSONPiece, _ request: Int, _ offset: Int64, _ fault: String?,
    _ ledger: inout FakeLedger
  ) {
    // Taken apart once: a lookup in a piece reads it from its start.
    let fields = event.fields
    let id = fields["messageId"]?.string ?? ""
    let user = Self.user(of: fields) ?? ""
    let isWithin = quota.admits(user)
    if let reason = fault ?? Self.dropReason(fields, id) ?? (isWithin ? nil : "user's quota") {
      ledger.silentDrops.append(.init(id: id, reason: reason))
      return
    }
    let given = fields["originalTimestamp"]?.string ?? fields["timestamp"]?.string
    let time = given.flatMap { Timestamp(text: $0) }.map {
      Timestamp(nanoseconds: $0.nanoseconds + offset)
    }
    ledger.keep(
      .init(id: id, user: user, event: event, request: request, time: time), asOne: id)
  }

  /// Why Segment takes the event and loses it.
  private static func dropReason(_ event: [String: JSONPiece], _ id: String) -> String? {
    guard user(of: event) != nil else { return "no_user_anon_id" }
    guard id.count < 100 else { return "messageId of 100 characters" }
    switch event["type"]?.string {
    case "track": return (event["event"]?.string ?? "").isEmpty ? "track without event" : nil
    case "group": return event["groupId"]?.string == nil ? "group without groupId" : nil
    case "alias": return event["previousId"]?.string == nil ? "alias without previousId" : nil
    case "identify", "page", "screen": return nil
    default: return "no such type"
    }
  }

  private static func user(of event: [String: JSONPiece]) -> String? {
    for key in ["userId", "anonymousId"] {
      guard let value = event[key], !value.isNull else { continue }
      let text = value.string ?? value.text
      if !text.isEmpty { return text }
    }
    return nil
  }

  /// Segment's rule: timestamp = receivedAt - (sentAt - originalTimestamp).
  private static func offset(_ sentAt: String?, _ now: Timestamp) -> Int64 {
    guard let sent = sentAt.flatMap({ Timestamp(text: $0) }) else { return 0 }
    return now.nanoseconds - sent.nanoseconds
  }

  /// The user of Basic authentication; the colon behind it is needed.
  private func key(_ request: StubRequest) -> String? {
    guard let value = request.headers["authorization"], value.hasPrefix("Basic "),
      let data = Data(base64Encoded: String(value.dropFirst(6))),
      case let text = String(decoding: data, as: UTF8.self), let colon = text.firstIndex(of: ":")
    else { return nil }
    return String(text[..<colon])
  }

  private mutating func isOverRate(_ now: Timestamp) -> Bool {
    guard let most = requestsPerSecond else { return false }
    let current = now.nanoseconds / 1_000_000_000
    if current != second { (second, requestsInSecond) = (current, 0) }
    requestsInSecond += 1
    return requestsInSecond > most
  }

  private static func error(_ text: String) -> StubAnswer {
    .json("{\"success\":false,\"message\":\"\(text)\",\"code\":\"invalid_request\"}", status: 400)
  }
}
