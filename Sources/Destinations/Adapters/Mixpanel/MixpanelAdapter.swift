internal import EventModel
internal import Hashing
public import HTTPClient
public import Primitives

// A request to Mixpanel's import API, `POST /import?strict=1&project_id=N`: a JSON list of
//
//   {"event":"Game Ended","properties":{
//      "time":1714564800000,             milliseconds since 1970
//      "distinct_id":"u1",               userId, else anonymousId, else ""
//      "$insert_id":"...",               from messageId; Mixpanel removes doubles by it
//      "$user_id":"u1","$device_id":"a", userId and anonymousId, where they are given
//      "ip":"...","$os":"...",           from the context (`MixpanelContext`)
//      ...}}                             the event's own properties, which win over the context's
//
// What is not one to one:
// - Tracks go by their name, a page as "Page Viewed" and a screen as "Screen Viewed", with `name` and
//   `category`. identify, group and alias are no events at Mixpanel and are not sent there: the ids on
//   every event say who is who.
// - `$insert_id` is the messageId where it has 1 to 36 characters of A-Z, a-z, 0-9 and `-` and is none of
//   the ids that Mixpanel ignores; else a UUID made from its hash: the same in every try.
// - An id that Mixpanel ignores ("null", "0", "anonymous", ...) does not become distinct_id.
// - Mixpanel puts an event of more than an hour ahead to its own "now", which differs from try to try.
//   Such an event gets the time at which the bus took it, and "original_timestamp" says what it had.
// - What strict import refuses is refused here: 255 properties and more, objects nested deeper than 3,
//   lists and objects of 255 members and more within.
// - Mixpanel cuts texts after 255 characters; they are sent whole.

/// Mixpanel's address and credentials.
public struct MixpanelConfiguration: Hashable, Sendable {
  public enum Region: String, Hashable, Sendable, CaseIterable {
    case us, eu
    case india = "in"

    public var address: String {
      switch self {
      case .us: "https://api.mixpanel.com"
      case .eu: "https://api-eu.mixpanel.com"
      case .india: "https://api-in.mixpanel.com"
      }
    }
  }

  public enum Credential: Hashable, Sendable {
    /// A service account; it needs the project.
    case serviceAccount(user: String, secret: String, project: String)
    /// The project's token; the older way.
    case token(String)
  }

  public var endpoint: HTTPEndpoint
  public var credential: Credential
  /// 0 sends bodies as they are.
  public var gzipLevel: Int32
  public var mapping: DestinationMapping

  public init(
    endpoint: HTTPEndpoint, credential: Credential, gzipLevel: Int32 = 4,
    mapping: DestinationMapping = DestinationMapping()
  ) {
    self.endpoint = endpoint
    self.credential = credential
    self.gzipLevel = gzipLevel
    self.mapping = mapping
  }
}

/// Writes events for Mixpanel and reads its answers.
public struct MixpanelAdapter: DestinationAdapter {
  public let name = "mixpanel"
  public let route: String
  /// The documentation says 10 MB, its sample answer 2,097,152 bytes: the smaller one is safe.
  public let limits = DestinationLimits(
    events: 2000, requestBytes: 2_000_000, itemBytes: 1_000_000, headBytes: 2)

  private let url: String
  private let headers: [HTTPHeader]
  private let gzipLevel: Int32
  private var plans: EventPlans
  private let choice = IntegrationChoice(names: ["Mixpanel"])

  public init(_ configuration: MixpanelConfiguration) {
    let login: String
    var query = "strict=1"
    switch configuration.credential {
    case .serviceAccount(let user, let secret, let project):
      login = "\(user):\(secret)"
      query += "&project_id=\(project)"
    case .token(let token): login = "\(token):"
    }
    url = configuration.endpoint.url("/import", query: query)
    route = "POST \(url)"
    headers = [
      HTTPHeader("Authorization", "Basic \(Base64.encode(Array(login.utf8)))"),
      HTTPHeader("Content-Type", "application/json"),
    ]
    gzipLevel = configuration.gzipLevel
    plans = EventPlans(configuration.mapping)
  }

  public mutating func prepare(
    _ name: RawSpan, _ payload: RawSpan, _ place: EventSource, into item: inout [UInt8]
  ) -> Preparation {
    let plan = plans.plan(for: name)
    guard plan.isWanted else { return .skip }
    do throws(MessagePackError) {
      let event = try EnvelopeView(payload)
      guard try choice.wants(event), Self.title(event.kind) != nil else { return .skip }
      let title = plan.name ?? (event.kind == .track ? name.copied() : Self.title(event.kind) ?? [])
      return try MixpanelItem(title: title, plan: plan.properties, source: place)
        .append(event, to: &item)
    } catch {
      return .refuse("the event is damaged: \(error)")
    }
  }

  public func call(_ items: [[UInt8]], sentAt: Timestamp) -> HTTPCall {
    let packed = RequestBody.packed(RequestBody.joined("[", items, "]"), level: gzipLevel)
    return HTTPCall(url, headers: headers + packed.headers, body: packed.body)
  }

  /// Of a 400 with a list, what the list names is refused and all the others are stored.
  public func verdict(_ reply: HTTPReply, count: Int, at now: Timestamp) -> DeliveryVerdict {
    // With 200 too, where a region or a proxy does not heed `strict`.
    guard reply.status == 400 || 200..<300 ~= reply.status,
      let answer = ItemStatuses.value(reply)?.objectValue,
      case .array(let records)? = answer["failed_records"]
    else { return .standard(reply, at: now) }
    var refused: [Int: String] = [:]
    for record in records {
      guard let record = record.objectValue, case .int(let index)? = record["index"],
        0..<Int64(count) ~= index
      else { continue }
      refused[Int(index)] = ItemStatuses.reason(record) ?? "refused without a reason"
    }
    return refused.isEmpty ? .standard(reply, at: now) : .partial(refused: refused)
  }

  /// What events of a kind are called; nil for those that are no events there. A track has its own.
  private static func title(_ kind: EventKind) -> [UInt8]? {
    switch kind {
    case .track: []
    case .page: Array("Page Viewed".utf8)
    case .screen: Array("Screen Viewed".utf8)
    case .identify, .group, .alias: nil
    }
  }
}
