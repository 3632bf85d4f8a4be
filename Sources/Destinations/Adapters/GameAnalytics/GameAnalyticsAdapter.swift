internal import EventModel
internal import Hashing
public import HTTPClient
public import Primitives

// Requests to GameAnalytics' collector, REST v2. Both carry in `Authorization` the Base64 of HMAC-SHA256,
// with the secret key, over the body as it is sent (the gzip bytes).
//
//   POST /v2/{game key}/init     {"platform":"linux","os_version":"linux 0","sdk_version":"rest api v2"}
//                                answers {"enabled":true,"server_ts":1714564800}
//   POST /v2/{game key}/events   a list of events (`GameAnalyticsItem`)
//
// The init call comes first after each start. Its `server_ts` tells how far this machine's clock is off:
// ten seconds and more are added to `client_ts` from then on, as the provider's libraries do.
//
// GameAnalytics removes no doubles: a request whose answer was lost is sent again and may count twice.

/// GameAnalytics' address, keys, and what to say of events that do not say it themselves.
public struct GameAnalyticsConfiguration: Hashable, Sendable {
  public static let address = "https://api.gameanalytics.com"
  public static let sandboxAddress = "https://sandbox-api.gameanalytics.com"

  public var endpoint: HTTPEndpoint
  public var gameKey: String
  public var secretKey: [UInt8]
  /// 0 sends bodies as they are.
  public var gzipLevel: Int32
  public var defaults: GameAnalyticsDefaults
  public var mapping: DestinationMapping

  public init(
    endpoint: HTTPEndpoint, gameKey: String, secretKey: [UInt8], gzipLevel: Int32 = 4,
    defaults: GameAnalyticsDefaults = .init(), mapping: DestinationMapping = DestinationMapping()
  ) {
    self.endpoint = endpoint
    self.gameKey = gameKey
    self.secretKey = secretKey
    self.gzipLevel = gzipLevel
    self.defaults = defaults
    self.mapping = mapping
  }

  /// Why a game key cannot be one; nil: it can. It becomes a part of the address.
  public static func fault(gameKey: String) -> String? {
    let isPlain = gameKey.utf8.allSatisfy {
      (48...57).contains($0) || (97...122).contains($0 | 0x20)
    }
    return isPlain && (1...64).contains(gameKey.utf8.count)
      ? nil : "a game key has letters and digits only, usually 32 of them"
  }
}

/// What stands in events whose context does not say it.
public struct GameAnalyticsDefaults: Hashable, Sendable {
  /// One of ``GameAnalyticsRules/platforms``.
  public var platform: String
  public var device: String
  public var manufacturer: String

  public init(
    platform: String = "linux", device: String = "unknown", manufacturer: String = "unknown"
  ) {
    self.platform = platform
    self.device = device
    self.manufacturer = manufacturer
  }
}

public struct GameAnalyticsAdapter: DestinationAdapter {
  public let name = "gameanalytics"
  public let route: String
  /// 1 MB a request; more than 500 events an SDK does not send.
  public let limits = DestinationLimits(
    events: 500, requestBytes: 1_000_000, itemBytes: 100_000, headBytes: 2)

  private let configuration: GameAnalyticsConfiguration
  private let base: String
  private var plans: EventPlans
  private var titles = GameAnalyticsTitles()
  /// Seconds to add to this machine's clock.
  private(set) var clockOffset: Int64 = 0
  private let choice = IntegrationChoice(names: ["GameAnalytics"])

  public init(_ configuration: GameAnalyticsConfiguration) {
    self.configuration = configuration
    base = configuration.endpoint.url("/v2/\(configuration.gameKey)")
    // The game key is no secret, but it is nobody's business in a log either.
    route = "POST \(configuration.endpoint.url("/v2/.../events"))"
    plans = EventPlans(configuration.mapping)
  }

  public mutating func opening(at now: Timestamp) -> HTTPCall? {
    let platform = configuration.defaults.platform
    var body: [UInt8] = [UInt8(ascii: "{")]
    body.member("platform", text: platform)
    body.member("os_version", text: "\(platform) 0")
    body.member("sdk_version", text: GameAnalyticsRules.sdkVersion)
    body.append(UInt8(ascii: "}"))
    return signed("/init", body)
  }

  public mutating func opened(_ reply: HTTPReply, at now: Timestamp) -> DeliveryVerdict {
    let standard = DeliveryVerdict.standard(reply, at: now)
    guard standard == .delivered else { return standard }
    guard let answer = ItemStatuses.value(reply)?.objectValue else {
      return .retry("HTTP \(reply.status): the init call's answer is no JSON object")
    }
    if answer["enabled"] == .bool(false) {
      return .configuration("GameAnalytics has switched this game off (\"enabled\": false)")
    }
    clockOffset = 0
    // Eleven digits are what the provider itself takes for a time.
    if case .int(let server)? = answer["server_ts"], 1...99_999_999_999 ~= server {
      let offset = server - now.nanoseconds / 1_000_000_000
      if abs(offset) >= 10 { clockOffset = offset }
    }
    return .delivered
  }

  public mutating func prepare(
    _ name: RawSpan, _ payload: RawSpan, _ place: EventSource, into item: inout [UInt8]
  ) -> Preparation {
    let plan = plans.plan(for: name)
    guard plan.isWanted else { return .skip }
    do throws(MessagePackError) {
      let event = try EnvelopeView(payload)
      guard event.kind == .track, try choice.wants(event) else { return .skip }
      let category = try GameAnalyticsCategory(event)
      let title = titles.title(of: name, renamed: plan.name)
      guard title != nil || category != nil else {
        return .refuse(
          "GameAnalytics takes 1 to 5 parts of 1 to 64 letters, digits, blanks and -_.()!? parted by : "
            + "as the name of an event: give it another by the mapping's \"rename\"")
      }
      return try GameAnalyticsItem(
        title: title ?? [], category: category, plan: plan.properties,
        defaults: configuration.defaults
      ).append(event, to: &item)
    } catch {
      return .refuse("the event is damaged: \(error)")
    }
  }

  public func call(_ items: [[UInt8]], sentAt: Timestamp) -> HTTPCall {
    // Here and not in `prepare`, which may run before the opening is answered.
    let shifted =
      clockOffset == 0 ? items : items.map { GameAnalyticsTime.shift($0, by: clockOffset) }
    return signed("/events", RequestBody.joined("[", shifted, "]"))
  }

  public func verdict(_ reply: HTTPReply, count: Int, at now: Timestamp) -> DeliveryVerdict {
    let standard = DeliveryVerdict.standard(reply, at: now)
    if standard == .delivered {
      // A success has something to say; the provider's own library takes an empty one for none.
      if reply.body.isEmpty { return .retry("HTTP \(reply.status) without a body") }
      let refused = ItemStatuses.refused(reply, count: count)
      return refused.isEmpty ? .delivered : .partial(refused: refused)
    }
    guard reply.status == 400, case .array(let faults)? = ItemStatuses.value(reply) else {
      return standard
    }
    return GameAnalyticsRules.verdict(of: faults, count: count) ?? standard
  }

  private func signed(_ path: String, _ body: [UInt8]) -> HTTPCall {
    let packed = RequestBody.packed(body, level: configuration.gzipLevel)
    let code = unsafe HMACSHA256.code(key: configuration.secretKey, packed.body.span.bytes)
    return HTTPCall(
      base + path,
      headers: [
        HTTPHeader("Authorization", Base64.encode(code)),
        HTTPHeader("Content-Type", "application/json"),
      ] + packed.headers, body: packed.body)
  }
}
