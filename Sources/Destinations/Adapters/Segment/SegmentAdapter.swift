internal import EventCodec
internal import EventModel
internal import Hashing
public import HTTPClient
public import Primitives

// A request to Segment's HTTP tracking API, `POST /v1/batch`:
//
//   {"batch":[EVENT,...],"sentAt":"2026-11-30T10:00:00.000Z"}
//
//   EVENT   the event's canonical JSON without `originalTimestamp`, `sentAt`, `receivedAt` and
//           `timestampFlag`: Segment sets its own. With an `originalTimestamp` in it, it would undo the
//           correction of a wrong clock that `timestamp` has.
//
// `messageId` is what Segment removes doubles by (for a day, in most cases). One of 100 characters and
// more is replaced by "sha256-" and the hash of it in hexadecimal digits, an empty one by the event's
// place in the journal; both are the same in every try.
//
// What Segment would take and then drop without a word is refused here: an event without `userId` and
// `anonymousId`, a group without `groupId`, an alias without `previousId`. Its further limits cannot be
// reached: an event of 32 KB has fewer than 10,000 properties.

/// Segment's address and key.
public struct SegmentConfiguration: Hashable, Sendable {
  public enum Region: String, Hashable, Sendable, CaseIterable {
    case us, eu

    public var address: String {
      switch self {
      case .us: "https://api.segment.io"
      case .eu: "https://events.eu1.segmentapis.com"
      }
    }
  }

  public var endpoint: HTTPEndpoint
  public var writeKey: String
  /// 0 sends bodies as they are.
  public var gzipLevel: Int32
  public var mapping: DestinationMapping

  public init(
    endpoint: HTTPEndpoint, writeKey: String, gzipLevel: Int32 = 4,
    mapping: DestinationMapping = DestinationMapping()
  ) {
    self.endpoint = endpoint
    self.writeKey = writeKey
    self.gzipLevel = gzipLevel
    self.mapping = mapping
  }
}

/// Writes events for Segment. About 0.6 µs an event, besides compression.
public struct SegmentAdapter: DestinationAdapter {
  public let name = "segment"
  public let route: String
  /// Segment takes 500 KB and 32 KB; its own libraries stop at 475,000 and 32,768 bytes.
  public let limits = DestinationLimits(
    events: 2500, requestBytes: 475_000, itemBytes: 32_768, headBytes: 64)

  private let url: String
  private let headers: [HTTPHeader]
  private let gzipLevel: Int32
  private var plans: EventPlans
  private let choice = IntegrationChoice(names: ["Segment.io", "Segment"], heedsAll: false)
  private static let fields = EnvelopeField.allCases.filter {
    ![.originalTimestamp, .sentAt, .receivedAt, .timestampFlag].contains($0)
  }

  public init(_ configuration: SegmentConfiguration) {
    url = configuration.endpoint.url("/v1/batch")
    route = "POST \(url)"
    let key = Base64.encode(Array("\(configuration.writeKey):".utf8))
    headers = [
      HTTPHeader("Authorization", "Basic \(key)"), HTTPHeader("Content-Type", "application/json"),
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
      guard try choice.wants(event) else { return .skip }
      if let fault = try fault(event) { return .refuse(fault) }
      return try write(event, plan, place, &item)
    } catch {
      return .refuse("the event is damaged: \(error)")
    }
  }

  public func call(_ items: [[UInt8]], sentAt: Timestamp) -> HTTPCall {
    let body = RequestBody.joined("{\"batch\":[", items, "],\"sentAt\":\"\(sentAt.text)\"}")
    let packed = RequestBody.packed(body, level: gzipLevel)
    return HTTPCall(url, headers: headers + packed.headers, body: packed.body)
  }

  /// Segment says `{"success":true}`. Where what stands before it answers 200 with a refusal, none is there.
  public func verdict(_ reply: HTTPReply, count: Int, at now: Timestamp) -> DeliveryVerdict {
    let standard = DeliveryVerdict.standard(reply, at: now)
    guard standard == .delivered,
      case .bool(false)? = ItemStatuses.value(reply)?.objectValue?["success"]
    else { return standard }
    return .split(DeliveryVerdict.reason(reply))
  }

  /// Why Segment would refuse or silently drop the event; nil when it takes it.
  private func fault(_ event: borrowing EnvelopeView) throws(MessagePackError) -> String? {
    if try !event.hasID(.userId), try !event.hasID(.anonymousId) {
      return "Segment needs a userId or an anonymousId (no_user_anon_id)"
    }
    switch event.kind {
    case .group where try !event.hasID(.groupId): return "Segment needs the groupId of a group"
    case .alias where try !event.hasID(.previousId):
      return "Segment needs the previousId of an alias"
    default: return nil
    }
  }

  private func write(
    _ event: borrowing EnvelopeView, _ plan: EventPlan, _ place: EventSource,
    _ item: inout [UInt8]
  ) throws(MessagePackError) -> Preparation {
    // JSON is longer than MessagePack, mostly by quotes, colons and the time.
    item.reserveCapacity(event.payload.byteCount * 5 / 4 + 64)
    item.append(UInt8(ascii: "{"))
    do throws(CodecError) {
      for field in Self.fields { try append(field, event, plan, place, &item) }
      for other in event.others {
        item.key(event.payload.extracting(other.key))
        try CanonicalJSON.append(value: event.payload.extracting(other.value), to: &item)
      }
    } catch {
      return .refuse("the event is damaged: \(error)")
    }
    item.append(UInt8(ascii: "}"))
    return .ready
  }

  private func append(
    _ field: EnvelopeField, _ event: borrowing EnvelopeView, _ plan: EventPlan,
    _ place: EventSource, _ item: inout [UInt8]
  ) throws(CodecError) {
    switch field {
    case .messageId: return Self.appendMessageID(event, place, &item)
    case .event where plan.name != nil:
      return item.member("event", text: plan.name ?? [])
    default: break
    }
    guard event.has(field) else { return }
    item.key(field.text)
    switch field {
    case .timestamp: try event.appendTime(.timestamp, to: &item)
    case .properties, .traits: try event.appendObject(field, plan.properties, to: &item)
    default: try CanonicalJSON.append(value: event.value(field), to: &item)
    }
  }

  private static func appendMessageID(
    _ event: borrowing EnvelopeView, _ place: EventSource, _ item: inout [UInt8]
  ) {
    let given = event.text(.messageId)
    if given.isEmpty {
      item.member("messageId", text: DerivedID.ofEvent(event.payload, place))
    } else if given.byteCount < 100 {
      // Bytes are as many as characters or more, so this errs on the safe side.
      item.member("messageId", text: given)
    } else {
      item.member("messageId", text: Array("sha256-".utf8) + DerivedID.hex(given))
    }
  }
}
