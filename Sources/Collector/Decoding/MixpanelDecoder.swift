// How an event in Mixpanel's form becomes one of ours:
//
//   event                          event
//   properties.$insert_id          messageId
//   properties.time                timestamp (seconds, milliseconds: by their size)
//   properties.$user_id            userId
//   properties.$device_id          anonymousId
//   properties.distinct_id         where neither of the two is there: anonymousId without its "$device:",
//                                  else userId; taken out when it says no more than those
//   properties.token               not kept: it is the key
//   every other property           properties, as it is
//
// An update of a profile (/engage) becomes an identify: $distinct_id is the userId, the members of $set
// and $set_once are the traits, every other operation stands among the traits under its own name. One of
// a group (/groups) becomes a group event: $group_id is the groupId, $group_key is kept as a trait.
internal import BusClient
internal import BusProtocol
internal import EventCodec
internal import EventModel
internal import Primitives

/// Makes payloads of events in Mixpanel's form. Holds buffers that it reuses; one thread at a time.
struct MixpanelDecoder: Sendable {
  private var reader = PlainEventReader()
  private var rules: RuleApplication

  private let mapping: PathMapping

  init(rules: RuleApplication, mapping: PathMapping) {
    self.rules = rules
    self.mapping = mapping
  }

  /// What is asked of each event.
  struct Demands {
    /// `time`, `distinct_id` and `$insert_id` must be there, as strict imports want it.
    var isStrict: Bool
    /// The request itself showed no key, so each event must.
    var keys: WriteKeys?
  }

  mutating func read(
    _ list: EventList, of body: RawSpan, _ route: CollectorRoute, _ demands: Demands,
    receivedAt: Int64, into verdicts: inout Verdicts
  ) {
    for event in list.events {
      let start = verdicts.events.payloads.count
      var id: [UInt8] = []
      do throws(EventRefusal) {
        try take(body.extracting(event), route, demands, receivedAt, &id, &verdicts)
      } catch {
        verdicts.events.payloads.removeSubrange(start...)
        verdicts.refuse(messageId: id, error)
      }
    }
  }

  private mutating func take(
    _ event: RawSpan, _ route: CollectorRoute, _ demands: Demands, _ receivedAt: Int64,
    _ id: inout [UInt8], _ verdicts: inout Verdicts
  ) throws(EventRefusal) {
    let object = try Self.object(event)
    var envelope: EventEnvelope
    switch route {
    case .mixpanelEngage: envelope = try MixpanelProfile.identify(object, demands)
    case .mixpanelGroups: envelope = try MixpanelProfile.group(object, demands)
    default: envelope = try MixpanelEvent.track(object, demands, &id)
    }
    envelope[.receivedAt] = .int(receivedAt)
    var packed: [UInt8] = []
    envelope.appendPayload(to: &packed)
    let name = Array(envelope.topic.utf8)
    let start = verdicts.events.payloads.count
    let topic: [UInt8]
    do throws(CodecError) {
      topic = try unsafe reader.read(
        name: name.span.bytes, payload: packed.span.bytes, received: receivedAt,
        into: &verdicts.events.payloads)
    } catch {
      throw EventRefusal(error)
    }
    let finished = try PayloadChecks.finish(
      topic, &verdicts.events.payloads, from: start, needsIdentity: false, mapping, &rules)
    verdicts.take(name: finished.topic, messageId: finished.messageId)
  }

  private static func object(_ event: RawSpan) throws(EventRefusal) -> PropertyObject {
    guard event.byteCount <= EventLimits.maximumEventBytes else {
      throw EventRefusal(
        .tooLarge, "\(event.byteCount) bytes; \(EventLimits.maximumEventBytes) are allowed")
    }
    do {
      // The event's own object, and what its properties may have.
      let packed = try JSONValuePacker.pack(event, depth: EventLimits.maximumContainers)
      var reader = unsafe MessagePackReader(packed.span.bytes)
      let value = try PropertyValue(from: &reader)
      guard let object = value.objectValue else {
        throw CodecError(.notAnObject, at: 0)
      }
      return object
    } catch let error as CodecError {
      throw EventRefusal(error)
    } catch {
      throw EventRefusal(.badPayload, "\(error)")
    }
  }
}

enum MixpanelEvent {
  static func track(
    _ object: PropertyObject, _ demands: MixpanelDecoder.Demands, _ id: inout [UInt8]
  ) throws(EventRefusal) -> EventEnvelope {
    guard let name = object["event"]?.stringValue, !name.isEmpty else {
      throw EventRefusal(.badName, "'event' is invalid: must be a text", field: "event")
    }
    guard var properties = (object["properties"] ?? .object(PropertyObject())).objectValue else {
      throw EventRefusal(.badPayload, "'properties' must be an object", field: "properties")
    }
    if let text = properties["$insert_id"]?.stringValue { id = Array(text.utf8.prefix(256)) }
    try checkKey(properties, demands)
    if demands.isStrict { try checkStrict(properties) }
    var envelope = EventEnvelope(.track)
    envelope.event = name
    envelope[.messageId] = properties["$insert_id"]
    envelope[.timestamp] = properties["time"]
    identify(&envelope, &properties)
    for key in ["token", "time", "$insert_id"] { properties[key] = nil }
    envelope.properties = properties
    return envelope
  }

  static func checkKey(
    _ object: PropertyObject, _ demands: MixpanelDecoder.Demands, _ key: String = "token"
  ) throws(EventRefusal) {
    guard let keys = demands.keys else { return }
    guard keys.allow(object[key]?.stringValue.map { Array($0.utf8) }) else {
      throw EventRefusal(.denied, "its \(key) is not a key of this collector", field: key)
    }
  }

  private static func checkStrict(_ properties: PropertyObject) throws(EventRefusal) {
    let isTime =
      switch properties["time"] {
      case .int(let number): Timestamp(number: number) != nil
      case .double(let number): Timestamp(number: number) != nil
      default: false
      }
    guard isTime else {
      throw EventRefusal(
        .badPayload, "'properties.time' is invalid: must be specified as seconds since epoch",
        field: "properties.time")
    }
    for key in ["distinct_id", "$insert_id"] where properties[key]?.stringValue == nil {
      throw EventRefusal(
        .badPayload, "'properties.\(key)' is invalid: must be a text", field: "properties.\(key)")
    }
  }

  private static func identify(_ envelope: inout EventEnvelope, _ properties: inout PropertyObject)
  {
    let user = given(properties["$user_id"])
    let device = given(properties["$device_id"])
    let distinct = given(properties["distinct_id"])
    envelope[.userId] = user
    envelope[.anonymousId] = device
    if user == nil, device == nil, let distinct {
      if let text = distinct.stringValue, text.hasPrefix("$device:") {
        envelope[.anonymousId] = .string(String(text.dropFirst("$device:".count)))
      } else {
        envelope[.userId] = distinct
      }
      properties["distinct_id"] = nil
    } else if distinct == nil || distinct == user || distinct == device
      || distinct?.stringValue == device?.stringValue.map({ "$device:" + $0 })
    {
      properties["distinct_id"] = nil
    }
    properties["$user_id"] = nil
    properties["$device_id"] = nil
  }

  /// Neither null nor empty, and nothing that no id can be.
  private static func given(_ value: PropertyValue?) -> PropertyValue? {
    switch value {
    case .string(let text)?: text.isEmpty ? nil : value
    case .int?, .uint?: value
    default: nil
    }
  }
}

enum MixpanelProfile {
  static func identify(
    _ object: PropertyObject, _ demands: MixpanelDecoder.Demands
  ) throws(EventRefusal) -> EventEnvelope {
    try MixpanelEvent.checkKey(object, demands, "$token")
    guard let id = object["$distinct_id"]?.stringValue, !id.isEmpty else {
      throw EventRefusal(.noIdentity, "'$distinct_id' must be a text", field: "$distinct_id")
    }
    var envelope = EventEnvelope(.identify)
    envelope.userId = id
    envelope[.timestamp] = object["$time"]
    envelope.traits = traits(object)
    return envelope
  }

  static func group(
    _ object: PropertyObject, _ demands: MixpanelDecoder.Demands
  ) throws(EventRefusal) -> EventEnvelope {
    try MixpanelEvent.checkKey(object, demands, "$token")
    guard let id = object["$group_id"] else {
      throw EventRefusal(.badPayload, "'$group_id' is missing", field: "$group_id")
    }
    var envelope = EventEnvelope(.group)
    envelope[.groupId] = id
    envelope.traits = traits(object)
    return envelope
  }

  private static func traits(_ object: PropertyObject) -> PropertyObject {
    var traits = PropertyObject()
    // Looked up by key: thousands of members, each searched among all, would take seconds.
    var places: [[UInt8]: Int] = [:]
    func put(_ member: PropertyObject.Member) {
      let key = Array(member.key.utf8)
      if let place = places[key] {
        traits.members[place].value = member.value
      } else {
        places[key] = traits.members.count
        traits.members.append(member)
      }
    }
    for member in object.members {
      switch member.key {
      case "$set", "$set_once": for inner in member.value.objectValue?.members ?? [] { put(inner) }
      case "$token", "$distinct_id", "$group_id", "$time", "$ip", "$ignore_time": break
      default: put(member)
      }
    }
    return traits
  }
}
