internal import EventCodec
internal import EventModel
internal import Hashing
public import HTTPClient
public import Primitives

// A request to a webhook: `POST` of a JSON list of events, each its canonical JSON with `receivedAt`:
//
//   [{"type":"track","event":"Game Ended","messageId":"...","timestamp":"...","properties":{...}},...]
//
// With a secret two headers sign it:
//
//   X-Eventbus-Timestamp   seconds since 1970 at this try
//   X-Eventbus-Signature   "sha256=" and, in hexadecimal digits, HMAC-SHA256 with the secret as its key over
//                          the timestamp's text, a point, and the body as it was sent (after gzip)
//
// A receiver compares in constant time and refuses a timestamp far from its clock, so that nobody can
// play an old request again. A 2xx is success; when its body is JSON of the form
// {"events":[{"status":413},{"status":201},...]} with one element an event, those of 400 and more are
// dead letters. Any other body is not looked at.

public struct WebhookConfiguration: Hashable, Sendable {
  public var endpoint: HTTPEndpoint
  /// Signs requests; empty: they are not signed.
  public var secret: [UInt8]
  /// Sent with each request.
  public var headers: [HTTPHeader]
  /// 0, the usual: bodies are sent as they are, since not every receiver unpacks.
  public var gzipLevel: Int32
  /// Events in one request.
  public var events: Int
  /// Bytes of one request before compression.
  public var requestBytes: Int
  public var mapping: DestinationMapping

  public init(
    endpoint: HTTPEndpoint, secret: [UInt8] = [], headers: [HTTPHeader] = [], gzipLevel: Int32 = 0,
    events: Int = 500, requestBytes: Int = 1_000_000,
    mapping: DestinationMapping = DestinationMapping()
  ) {
    self.endpoint = endpoint
    self.secret = secret
    self.headers = headers
    self.gzipLevel = gzipLevel
    self.events = events
    self.requestBytes = requestBytes
    self.mapping = mapping
  }

  /// Why a header cannot be one of `headers`; nil: it can.
  public static func fault(_ header: HTTPHeader) -> String? {
    guard header.isValid else { return "a header is NAME: VALUE, without line breaks" }
    let own = [
      "content-length", "content-encoding", "content-type", "transfer-encoding", "host",
      "connection", "expect", "x-eventbus-timestamp", "x-eventbus-signature",
    ]
    return own.contains(header.name.lowercased())
      ? "\(header.name) is set by the publisher itself" : nil
  }
}

public struct WebhookAdapter: DestinationAdapter {
  public let name = "webhook"
  public let route: String
  public let limits: DestinationLimits

  private let configuration: WebhookConfiguration
  private let url: String
  private var plans: EventPlans
  private let choice = IntegrationChoice(names: ["Webhooks", "Webhook"])

  public init(_ configuration: WebhookConfiguration) {
    self.configuration = configuration
    url = configuration.endpoint.url()
    // The query may hold a secret of the receiver's.
    route = "POST \(configuration.endpoint.base)"
    limits = DestinationLimits(
      events: configuration.events, requestBytes: configuration.requestBytes,
      itemBytes: configuration.requestBytes - 2, headBytes: 2)
    plans = EventPlans(configuration.mapping)
  }

  public mutating func prepare(
    _ name: RawSpan, _ payload: RawSpan, _ place: EventSource, into item: inout [UInt8]
  ) -> Preparation {
    let plan = plans.plan(for: name)
    guard plan.isWanted else { return .skip }
    do throws(MessagePackError) {
      let event = try EnvelopeView(payload)
      guard try choice.wants(event) else { return .skip }
      return Self.write(event, plan, place, &item)
    } catch {
      return .refuse("the event is damaged: \(error)")
    }
  }

  public func call(_ items: [[UInt8]], sentAt: Timestamp) -> HTTPCall {
    let packed = RequestBody.packed(
      RequestBody.joined("[", items, "]"), level: configuration.gzipLevel)
    var headers = configuration.headers + packed.headers
    headers.append(HTTPHeader("Content-Type", "application/json"))
    if !configuration.secret.isEmpty {
      let time = "\(sentAt.nanoseconds / 1_000_000_000)"
      headers.append(HTTPHeader("X-Eventbus-Timestamp", time))
      headers.append(
        HTTPHeader("X-Eventbus-Signature", "sha256=" + signature(packed.body, time: time)))
    }
    return HTTPCall(url, headers: headers, body: packed.body)
  }

  public func verdict(_ reply: HTTPReply, count: Int, at now: Timestamp) -> DeliveryVerdict {
    let standard = DeliveryVerdict.standard(reply, at: now)
    guard standard == .delivered else { return standard }
    let refused = ItemStatuses.refused(reply, count: count)
    return refused.isEmpty ? .delivered : .partial(refused: refused)
  }

  private func signature(_ body: [UInt8], time: String) -> String {
    let signed = Array("\(time).".utf8) + body
    return Hex.encode(unsafe HMACSHA256.code(key: configuration.secret, signed.span.bytes))
  }

  private static func write(
    _ event: borrowing EnvelopeView, _ plan: EventPlan, _ place: EventSource,
    _ item: inout [UInt8]
  ) -> Preparation {
    do throws(CodecError) {
      item.reserveCapacity(event.payload.byteCount * 5 / 4 + 64)
      guard plan.name != nil || !plan.properties.isIdentity else {
        try CanonicalJSON.append(
          event.payload, .init(receivedAt: place.received.nanoseconds), to: &item)
        return .ready
      }
      try writeMapped(event, plan, place, &item)
      return .ready
    } catch {
      return .refuse("the event is damaged: \(error)")
    }
  }

  private static func writeMapped(
    _ event: borrowing EnvelopeView, _ plan: EventPlan, _ place: EventSource,
    _ item: inout [UInt8]
  ) throws(CodecError) {
    item.append(UInt8(ascii: "{"))
    for field in EnvelopeField.allCases where event.has(field) {
      if field == .event, let name = plan.name {
        item.member("event", text: name)
        continue
      }
      item.key(field.text)
      switch field {
      case .timestamp, .receivedAt: try event.appendTime(field, to: &item)
      case .properties, .traits: try event.appendObject(field, plan.properties, to: &item)
      default: try CanonicalJSON.append(value: event.value(field), to: &item)
      }
    }
    for other in event.others {
      item.key(event.payload.extracting(other.key))
      try CanonicalJSON.append(value: event.payload.extracting(other.value), to: &item)
    }
    if !event.has(.receivedAt) { item.member("receivedAt", time: place.received) }
    item.append(UInt8(ascii: "}"))
  }
}
