internal import Foundation
internal import Hashing
public import Primitives

/// GameAnalytics' collector, REST v2.
public struct FakeGameAnalytics: FakeProvider {
  public var gameKey: String
  public var secretKey: String
  /// How far its clock is ahead of this machine's, in seconds.
  public var clockOffset: Int64 = 0
  public var isEnabled = true
  /// Whether faults say which event they belong to; what the fields are called is not documented.
  public var namesIndexes = true
  /// At most 500 events of one user in a day, as the provider asks for.
  public var quota = FakeQuota(perUser: 500)
  /// Requests with events that came before any init call.
  public private(set) var early = 0
  private var isInitialised = false

  public init(
    gameKey: String = "5c6bcb5402204249437fb5a7a80a4959",
    secretKey: String = "16813a12f718bc5c620f56944e1abc3ea13ccbac"
  ) {
    self.gameKey = gameKey
    self.secretKey = secretKey
  }

  public mutating func answer(
    _ request: StubRequest, at now: Timestamp, _ ledger: inout FakeLedger
  ) -> (answer: StubAnswer, events: Int) {
    guard request.wireBody.count <= 2_000_000 else { return (StubAnswer(delivery: .close), 0) }
    guard request.wireBody.count <= 1_000_000 else { return (StubAnswer(413), 0) }
    let code = unsafe HMACSHA256.code(
      key: Array(secretKey.utf8), request.wireBody.span.bytes)
    guard request.headers["authorization"] == Data(code).base64EncodedString(),
      request.path.hasPrefix("/v2/\(gameKey)/")
    else { return (.json("{\"error\":\"unauthorized\"}", status: 401), 0) }
    guard JSONPiece.isJSON(request.body) else {
      return (.json("{\"error\":\"not JSON\"}", status: 400), 0)
    }
    switch request.path.split(separator: "/").last {
    case "init":
      isInitialised = true
      let time = now.nanoseconds / 1_000_000_000 + clockOffset
      return (.json("{\"enabled\":\(isEnabled),\"server_ts\":\(time),\"flags\":[]}"), 0)
    case "events": return take(request, now, &ledger)
    default: return (StubAnswer(404), 0)
    }
  }

  private mutating func take(
    _ request: StubRequest, _ now: Timestamp, _ ledger: inout FakeLedger
  ) -> (answer: StubAnswer, events: Int) {
    guard request.body.first == UInt8(ascii: "[") else {
      return (.json("{\"error\":\"not a list\"}", status: 400), 0)
    }
    if !isInitialised { early += 1 }
    let events = JSONPiece(request.body[...]).elements
    if let refusal = quota.refusal(events.count, at: now) { return (refusal, 0) }
    var faults: [String] = []
    for (index, event) in events.enumerated() {
      let id = event["event_id"]?.string ?? ""
      if let fault = Self.fault(event) {
        ledger.refused.append(.init(id: id, reason: fault))
        faults.append(
          namesIndexes ? "{\"index\":\(index),\"error\":\"\(fault)\"}" : "{\"error\":\"\(fault)\"}")
      } else if !quota.admits(event["user_id"]?.string ?? "") {
        ledger.silentDrops.append(.init(id: id, reason: "user's quota"))
      } else {
        let time = event["client_ts"]?.number.map {
          Timestamp(nanoseconds: Int64($0) * 1_000_000_000)
        }
        // It removes no doubles: whatever comes is kept.
        ledger.keep(
          .init(
            id: id, user: event["user_id"]?.string ?? "", event: event, request: request.number,
            time: time), asOne: "\(request.number) \(index)")
      }
    }
    let list = "[\(faults.joined(separator: ","))]"
    return (.json(list, status: faults.isEmpty ? 200 : 400), events.count)
  }

  /// The field that is wrong or missing.
  static func fault(_ event: JSONPiece) -> String? {
    let texts: [(String, String)] = [
      ("category", "^(user|session_end|business|resource|progression|design|error)$"),
      ("device", "^.{1,64}$"), ("user_id", "^.{1,64}$"), ("sdk_version", "^rest api v2$"),
      ("os_version", "^(\(platforms)) [0-9]{0,5}(\\.[0-9]{0,5}){0,2}$"),
      ("manufacturer", "^.{1,64}$"),
      ("platform", "^(\(platforms))$"),
      ("session_id", "^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$"),
    ]
    for (field, pattern) in texts where !matches(event[field]?.string, pattern) { return field }
    guard event["v"]?.number == 2 else { return "v" }
    guard let time = event["client_ts"], let seconds = Int64(time.text),
      0...99_999_999_999 ~= seconds
    else { return "client_ts" }
    guard let session = event["session_num"], (Int(session.text) ?? 0) >= 1 else {
      return "session_num"
    }
    if let type = event["connection_type"] {
      guard ["offline", "wwan", "wifi", "lan"].contains(type.string ?? "") else {
        return "connection_type"
      }
    }
    if let build = event["build"], !matches(build.string, "^.{1,32}$") { return "build" }
    return categoryFault(event) ?? customFault(event["custom_fields"])
  }

  private static func customFault(_ fields: JSONPiece?) -> String? {
    guard let members = fields?.members else { return nil }
    let isFine =
      members.count <= 50
      && members.allSatisfy { key, value in
        matches(key, "^[a-zA-Z0-9_]{1,64}$")
          && (value.number != nil || (value.string?.count ?? 257) <= 256)
      }
    return isFine ? nil : "custom_fields"
  }

  private static let platforms =
    "ios|android|windows|mac_osx|tvos|webgl|linux|watch_os|ps4|xboxone|tizen|roku|webplayer"

  static func matches(_ text: String?, _ pattern: String) -> Bool {
    text?.range(of: pattern, options: .regularExpression) != nil
  }
}
