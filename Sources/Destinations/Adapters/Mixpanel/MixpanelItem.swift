internal import EventCodec
internal import EventModel
internal import Primitives

/// One event as Mixpanel wants it.
struct MixpanelItem {
  let title: [UInt8]
  let plan: PropertyPlan
  let source: EventSource

  /// 254 properties, those that Mixpanel itself wants among them.
  private static let mostMembers = 254
  private static let mostLevels = 3
  private static let hour: Int64 = 3_600_000_000_000

  func append(
    _ event: borrowing EnvelopeView, to item: inout [UInt8]
  ) throws(MessagePackError) -> Preparation {
    let time = try event.timestamp()
    let isAhead = time.nanoseconds - Self.hour > source.received.nanoseconds
    let moment = isAhead ? source.received : time
    guard moment >= .earliestPlausible else { return .refuse("Mixpanel takes no time before 1971") }
    item.reserveCapacity(event.payload.byteCount * 5 / 4 + 256)
    item.append(UInt8(ascii: "{"))
    item.member("event", text: title)
    item.key("properties")
    item.append(UInt8(ascii: "{"))
    item.member("time", number: moment.nanoseconds / 1_000_000)
    let user = try event.id(.userId)
    let device = try event.id(.anonymousId)
    let known = [user, device].compactMap(\.self).first { !MixpanelID.isIgnored($0) }
    item.member("distinct_id", text: known ?? [])
    item.member("$insert_id", text: MixpanelID.insertID(of: event, source))
    var members = 3
    if let user, !MixpanelID.isIgnored(user) {
      item.member("$user_id", text: user)
      members += 1
    }
    if let device, !MixpanelID.isIgnored(device) {
      item.member("$device_id", text: device)
      members += 1
    }
    if isAhead {
      item.member("original_timestamp", time: time)
      members += 1
    }
    do throws(CodecError) {
      return try appendRest(event, members, &item)
    } catch {
      return .refuse("the event is damaged: \(error)")
    }
  }

  /// The event's own properties, then those of the context that it has not, and the ends.
  private func appendRest(
    _ event: borrowing EnvelopeView, _ count: Int, _ item: inout [UInt8]
  ) throws(CodecError) -> Preparation {
    var members = count
    var fault: String?
    var keys = ByteInterner(seed: 0)
    for field in [EnvelopeField.name, .category] where event.kind != .track && event.has(field) {
      item.key(field.text)
      try CanonicalJSON.append(value: event.value(field), to: &item)
      _ = keys.intern(field.text.bytes)
      members += 1
    }
    if event.isMap(.properties) {
      try plan.forEach(in: event.value(.properties)) { key, value throws(CodecError) in
        // What stands in front already is Mixpanel's; an event cannot give itself another time.
        guard !Self.isReserved(key), keys.find(key) == nil else { return }
        _ = keys.intern(key)
        if fault == nil { fault = try Self.fault(key, value) }
        item.key(key)
        try CanonicalJSON.append(value: value, to: &item)
        members += 1
      }
    }
    members += try MixpanelContext.append(event, besides: keys, to: &item)
    item.append(contentsOf: "}}".utf8)
    if let fault { return .refuse(fault) }
    guard members <= Self.mostMembers else {
      return .refuse("Mixpanel takes fewer than 255 properties, and these are \(members)")
    }
    return .ready
  }

  private static func isReserved(_ key: RawSpan) -> Bool {
    key.isEqual(to: "time") || key.isEqual(to: "distinct_id") || key.isEqual(to: "$insert_id")
      || key.isEqual(to: "$user_id") || key.isEqual(to: "$device_id")
      || key.isEqual(to: "original_timestamp")
  }

  /// What strict import would say about one property; nil: nothing.
  private static func fault(_ key: RawSpan, _ value: RawSpan) throws(CodecError) -> String? {
    var reader = MessagePackReader(value)
    do throws(MessagePackError) {
      return try fault(&reader, levels: 0).map {
        "Mixpanel does not take the property \"\(key.shownText)\": \($0)"
      }
    } catch { throw CodecError(error) }
  }

  private static func fault(
    _ reader: inout MessagePackReader, levels: Int
  ) throws(MessagePackError) -> String? {
    let type = try reader.peek()
    let isMap = type & 0xF0 == 0x80 || type == 0xDE || type == 0xDF
    let isList = type & 0xF0 == 0x90 || type == 0xDC || type == 0xDD
    guard isMap || isList else {
      try reader.skip()
      return nil
    }
    let count = isMap ? try reader.readMapHeader() : try reader.readArrayHeader()
    guard count <= mostMembers else {
      return "\(count) members within it; fewer than 255 are taken"
    }
    guard levels < mostLevels else { return "it is nested deeper than \(mostLevels)" }
    for _ in 0..<count {
      if isMap { _ = try reader.readStringRange() }
      if let fault = try fault(&reader, levels: levels + 1) { return fault }
    }
    return nil
  }
}
