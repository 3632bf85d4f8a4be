internal import EventCodec
internal import EventModel
internal import Primitives

// An event; of another category than design, see `GameAnalyticsCategory`:
//
//   field            from                                                      else
//   client_ts        timestamp in seconds; first, so that a request can shift it to the provider's clock
//   category         "design"
//   event_id         the name, lower case with ":" for blanks
//   value            properties.value, where it is a number                    left out
//   v                2
//   user_id          userId, then anonymousId; over 64 bytes its SHA-256       refused
//   sdk_version      "rest api v2"
//   platform         context.os.name                                           the configured one
//   os_version       platform and context.os.version: "ios 17.1"               "linux 0"
//   device           context.device.model, 64 bytes of it                      the configured one
//   manufacturer     context.device.manufacturer, 64 bytes of it               the configured one
//   session_id       sessionId or session_id of context or properties: itself  made from user and UTC day
//                    where it is a UUID, else one made from it and the user
//   session_num      sessionNumber or session_num of context, from 1 on        1
//   connection_type  context.network.wifi or .cellular, where true             left out
//   build            context.app.version, 32 bytes of it                       left out
//   custom_fields    the other properties: numbers, and texts and bools as     left out
//                    texts of at most 256 bytes; 50 of them; in keys each
//                    character but letters, digits and _ becomes _

/// One event as GameAnalytics wants it.
struct GameAnalyticsItem {
  /// Of a design event.
  let title: [UInt8]
  let category: GameAnalyticsCategory?
  let plan: PropertyPlan
  let defaults: GameAnalyticsDefaults

  func append(
    _ event: borrowing EnvelopeView, to item: inout [UInt8]
  ) throws(MessagePackError) -> Preparation {
    var user = try event.id(.userId)
    if user == nil { user = try event.id(.anonymousId) }
    guard let user else {
      return .refuse("GameAnalytics needs a userId or an anonymousId")
    }
    let seconds = try event.timestamp().nanoseconds / 1_000_000_000
    guard seconds >= 0 else { return .refuse("GameAnalytics takes no time before 1970") }
    let context = event.isMap(.context) ? event.value(.context) : RawSpan()
    item.reserveCapacity(event.payload.byteCount * 5 / 4 + 256)
    item.append(UInt8(ascii: "{"))
    item.member("client_ts", number: seconds)
    item.member("category", text: category?.name ?? "design")
    if let category {
      if let fault = category.append(to: &item) { return .refuse(fault) }
    } else {
      item.member("event_id", text: title)
    }
    item.member("v", number: 2)
    item.member(
      "user_id", text: user.count <= 64 ? user : unsafe DerivedID.hex(user.span.bytes))
    item.member("sdk_version", text: GameAnalyticsRules.sdkVersion)
    try appendDevice(context, &item)
    let properties = event.isMap(.properties) ? event.value(.properties) : RawSpan()
    try GameAnalyticsSession(user: user, second: seconds)
      .append(context, properties, to: &item)
    do throws(CodecError) {
      let isDesign = category.map { $0.name == "design" } ?? true
      try GameAnalyticsFields(plan: plan, hasValue: isDesign, leavesOut: category?.used ?? [])
        .append(properties, to: &item)
    } catch {
      return .refuse("the event is damaged: \(error)")
    }
    item.append(UInt8(ascii: "}"))
    return .ready
  }

  private func appendDevice(
    _ context: RawSpan, _ item: inout [UInt8]
  ) throws(MessagePackError) {
    let system = try context.text(at: ["os", "name"])
    let platform = system.flatMap(GameAnalyticsRules.platform) ?? defaults.platform
    let version = try context.text(at: ["os", "version"]) ?? []
    item.member("platform", text: platform)
    item.member("os_version", text: "\(platform) \(GameAnalyticsRules.version(version))")
    let device = try context.text(at: ["device", "model"])?.prefixOfText(64)
    item.member("device", text: device ?? Array(defaults.device.utf8))
    let maker = try context.text(at: ["device", "manufacturer"])?.prefixOfText(64)
    item.member("manufacturer", text: maker ?? Array(defaults.manufacturer.utf8))
    if let build = try context.text(at: ["app", "version"])?.prefixOfText(32) {
      item.member("build", text: build)
    }
    if try context.isTrue(at: ["network", "wifi"]) {
      item.member("connection_type", text: "wifi")
    } else if try context.isTrue(at: ["network", "cellular"]) {
      item.member("connection_type", text: "wwan")
    }
  }
}

/// The time of an item that is ready, by another clock.
enum GameAnalyticsTime {
  private static let head = Array("{\"client_ts\":".utf8)

  /// The item with `offset` seconds more, within what the provider takes.
  static func shift(_ item: [UInt8], by offset: Int64) -> [UInt8] {
    let rest = item.dropFirst(head.count)
    let digits = rest.prefix { (48...57).contains($0) }
    guard item.starts(with: head), let second = Int64(String(decoding: digits, as: UTF8.self))
    else { return item }
    let shifted = min(max(0, second + offset), 99_999_999_999)
    return head + Array("\(shifted)".utf8) + rest.dropFirst(digits.count)
  }
}

/// Which session an event belongs to.
struct GameAnalyticsSession {
  let user: [UInt8]
  let second: Int64

  func append(
    _ context: RawSpan, _ properties: RawSpan, to item: inout [UInt8]
  ) throws(MessagePackError) {
    item.member("session_id", text: try id(context, properties))
    var number = try context.integer(at: ["sessionNumber"])
    if number == nil { number = try context.integer(at: ["session_num"]) }
    item.member("session_num", number: max(1, number ?? 1))
  }

  private func id(_ context: RawSpan, _ properties: RawSpan) throws(MessagePackError) -> [UInt8] {
    for key in ["sessionId", "session_id"] {
      if let found = try context.text(at: [key]) { return Self.uuid(found) ?? derived(from: found) }
      if let found = try properties.text(at: [key]) {
        return Self.uuid(found) ?? derived(from: found)
      }
    }
    return derived(from: Array("day \(second / 86_400)".utf8))
  }

  private func derived(from text: [UInt8]) -> [UInt8] {
    let seed = user + [0] + text
    return unsafe DerivedID.uuid(seed.span.bytes)
  }

  /// In lower case, where it has the form of one.
  private static func uuid(_ text: [UInt8]) -> [UInt8]? {
    guard text.count == 36 else { return nil }
    let lower = text.map { UInt8(ascii: "A")...UInt8(ascii: "F") ~= $0 ? $0 | 0x20 : $0 }
    let isUUID = lower.enumerated().allSatisfy { index, byte in
      [8, 13, 18, 23].contains(index)
        ? byte == UInt8(ascii: "-") : (48...57).contains(byte) || (97...102).contains(byte)
    }
    return isUUID ? lower : nil
  }
}
