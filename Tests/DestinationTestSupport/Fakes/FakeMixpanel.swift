internal import Foundation
public import Primitives

/// Mixpanel's `/import?strict=1`.
public struct FakeMixpanel: FakeProvider {
  public var user: String
  public var secret: String
  public var project: String
  /// How failed records call the id: the documentation's page says `$insert_id`, its specification
  /// `insert_id`.
  public var insertKey = "insert_id"
  /// Events in a rolling minute; more get 429.
  public var eventsPerMinute = 1_800_000
  /// More than 200,000 events of one user in a day are renamed `$hotshard_events`.
  public var quota = FakeQuota(perUser: 200_000)
  private var arrivals: [(second: Int64, events: Int)] = []

  static let ignored: Set = [
    "00000000-0000-0000-0000-000000000000", "anon", "anonymous", "nil", "none", "null", "n/a", "na",
    "undefined", "unknown", "<nil>", "0", "-1", "true", "false", "[]", "{}",
  ]

  public init(user: String = "user", secret: String = "secret", project: String = "1") {
    self.user = user
    self.secret = secret
    self.project = project
  }

  public mutating func answer(
    _ request: StubRequest, at now: Timestamp, _ ledger: inout FakeLedger
  ) -> (answer: StubAnswer, events: Int) {
    guard request.method == "POST", request.path == "/import" else { return (StubAnswer(404), 0) }
    let login = "Basic " + Data("\(user):\(secret)".utf8).base64EncodedString()
    guard request.headers["authorization"] == login,
      request.query.split(separator: "&").contains("project_id=\(project)")
    else { return (Self.error(401, "Invalid credentials", "Unauthorized"), 0) }
    guard request.body.count <= 2_097_152 else {
      let text = "request exceeds max limit of 2097152 bytes"
      return (Self.error(413, text, "Request Entity Too Large"), 0)
    }
    let events = JSONPiece(request.body[...]).elements
    guard JSONPiece.isJSON(request.body), request.body.first == UInt8(ascii: "["),
      events.count <= 2000
    else {
      return (Self.error(400, "the body is no list of at most 2000 events", "Bad Request"), 0)
    }
    guard takes(events.count, now) else {
      let text =
        "Project exceeded rate limits. Please retry the request with exponential backoff."
      return (Self.error(429, text, "Too Many Requests"), 0)
    }
    if quota.refusal(events.count, at: now) != nil {
      return (Self.error(429, "Project exceeded its daily quota.", "Too Many Requests"), 0)
    }
    var failed: [String] = []
    for (index, event) in events.enumerated() {
      let id = event["properties"]?["$insert_id"]?.string ?? ""
      if let (field, message) = Self.fault(event) {
        ledger.refused.append(.init(id: id, reason: message))
        failed.append(
          "{\"index\":\(index),\"\(insertKey)\":\"\(id)\",\"field\":\"\(field)\",\"message\":\"\(message)\"}"
        )
      } else {
        store(event, id, request.number, now, &ledger)
      }
    }
    let good = events.count - failed.count
    guard !failed.isEmpty else {
      return (.json("{\"code\":200,\"num_records_imported\":\(good),\"status\":\"OK\"}"), good)
    }
    let text = "some data points in the request failed validation"
    let list = failed.joined(separator: ",")
    return (
      .json(
        "{\"code\":400,\"error\":\"\(text)\",\"status\":\"Bad Request\",\"num_records_imported\":\(good),"
          + "\"failed_records\":[\(list)]}", status: 400), events.count
    )
  }

  /// Mixpanel takes an event for a double by four of its fields.
  private mutating func store(
    _ event: JSONPiece, _ id: String, _ request: Int, _ now: Timestamp, _ ledger: inout FakeLedger
  ) {
    let properties = event["properties"]
    let user = properties?["distinct_id"]?.string ?? ""
    guard quota.admits(user) else {
      return ledger.silentDrops.append(.init(id: id, reason: "renamed $hotshard_events"))
    }
    let key = [event["event"]?.text ?? "", properties?["time"]?.text ?? "", user, id]
      .joined(separator: "\u{1F}")
    let time = properties?["time"]?.number.map {
      // Whole milliseconds first: a double does not hold the nanoseconds of today.
      Timestamp(nanoseconds: Int64($0 < 1e11 ? $0 * 1e3 : $0) * 1_000_000)
    }
    // More than an hour ahead becomes the server's own time.
    let isAhead = time.map { $0.nanoseconds > now.nanoseconds + 3_600_000_000_000 } ?? false
    ledger.keep(
      .init(id: id, user: user, event: event, request: request, time: isAhead ? now : time),
      asOne: key)
  }

  /// The field that strict import complains of, and its words.
  private static func fault(_ event: JSONPiece) -> (String, String)? {
    guard event.bytes.count < 1 << 20 else { return ("event", "the event exceeds 1 MB") }
    guard let name = event["event"]?.string, !name.isEmpty else { return ("event", "missing") }
    guard let properties = event["properties"]?.members else { return ("properties", "missing") }
    let values = event["properties"]?.fields ?? [:]
    guard let time = values["time"]?.number, time >= 31_536_000 else {
      return (
        "properties.time", "'properties.time' is invalid: must be specified as seconds since epoch"
      )
    }
    guard let distinct = values["distinct_id"]?.string, !ignored.contains(distinct.lowercased())
    else { return ("properties.distinct_id", "'properties.distinct_id' is invalid") }
    let id = values["$insert_id"]?.string ?? ""
    let isPlain = id.utf8.allSatisfy {
      (48...57).contains($0) || (97...122).contains($0 | 0x20) || $0 == 0x2D
    }
    guard (1...36).contains(id.utf8.count), isPlain, !ignored.contains(id.lowercased()) else {
      return ("properties.$insert_id", "'properties.$insert_id' is invalid")
    }
    guard properties.count < 255 else { return ("properties", "too many properties") }
    for (key, value) in properties {
      guard value.depth <= 3, widest(value) < 255 else {
        return ("properties", "a value is nested too deeply or too wide: \(key.count) characters")
      }
    }
    return nil
  }

  private static func widest(_ piece: JSONPiece) -> Int {
    let inner = piece.members.map(\.value) + piece.elements
    return max(inner.count, inner.map(widest).max() ?? 0)
  }

  private mutating func takes(_ count: Int, _ now: Timestamp) -> Bool {
    let second = now.nanoseconds / 1_000_000_000
    arrivals.removeAll { $0.second <= second - 60 }
    guard arrivals.reduce(count, { $0 + $1.events }) <= eventsPerMinute else { return false }
    arrivals.append((second, count))
    return true
  }

  private static func error(_ status: Int, _ text: String, _ name: String) -> StubAnswer {
    .json("{\"code\":\(status),\"error\":\"\(text)\",\"status\":\"\(name)\"}", status: status)
  }
}
