internal import EventModel
internal import Primitives

/// What GameAnalytics checks events by.
public enum GameAnalyticsRules {
  /// What programs that are no SDK of the provider's call themselves.
  static let sdkVersion = "rest api v2"

  public static let platforms = [
    "ios", "android", "windows", "windows_phone", "blackberry", "roku", "tizen", "nacl", "mac_osx",
    "tvos", "webplayer", "ps4", "xboxone", "uwp_mobile", "uwp_desktop", "uwp_console", "uwp_iot",
    "uwp_surfacehub", "webgl", "xbox360", "ps3", "psm", "vita", "wiiu", "samsung_tv", "linux",
    "watch_os",
  ]

  /// The platform that a system is called there: `iPhone OS` and `iOS` are `ios`. Nil: none.
  static func platform(ofSystem name: [UInt8]) -> String? {
    let word = String(decoding: name, as: UTF8.self).lowercased()
      .split { $0 == " " || $0 == "_" || $0 == "-" }.joined(separator: "_")
    let known = [
      "iphone_os": "ios", "ipados": "ios", "macos": "mac_osx", "mac_os": "mac_osx",
      "mac_os_x": "mac_osx", "os_x": "mac_osx", "osx": "mac_osx", "watchos": "watch_os",
      "tv_os": "tvos", "win32": "windows", "ubuntu": "linux", "debian": "linux", "web": "webgl",
    ]
    if let platform = known[word] { return platform }
    return platforms.contains(word) ? word : nil
  }

  /// `17.1.2` of any text that begins so; each number has at most 5 digits. "0" where there is none.
  static func version(_ text: [UInt8]) -> String {
    let parts = text.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
      .prefix(3).map { $0.prefix { (48...57).contains($0) }.prefix(5) }
    let numbers = parts.prefix { !$0.isEmpty }
    return numbers.isEmpty
      ? "0" : numbers.map { String(decoding: $0, as: UTF8.self) }.joined(separator: ".")
  }

  /// `^[A-Za-z0-9\s\-_\.\(\)\!\?]{1,64}(:...){0,4}$`
  static func isEventID(_ id: [UInt8]) -> Bool {
    let parts = id.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
    return parts.count <= 5
      && parts.allSatisfy { (1...64).contains($0.count) && $0.allSatisfy(isPartOfID) }
  }

  private static func isPartOfID(_ byte: UInt8) -> Bool {
    switch byte {
    case 48...57, 65...90, 97...122, 0x20, 0x09...0x0D: true
    default: "-_.()!?".utf8.contains(byte)
    }
  }

  /// What a 400 with a list means; nil when it does not name the events. The events that it does not
  /// list are stored.
  static func verdict(of faults: [PropertyValue], count: Int) -> DeliveryVerdict? {
    var refused: [Int: String] = [:]
    for fault in faults {
      guard let object = fault.objectValue else { return nil }
      let reason = ItemStatuses.reason(object) ?? "refused without a reason"
      let index = ["index", "event_index", "i"].lazy.compactMap { object[$0]?.intValue }.first
      if let index, 0..<Int64(count) ~= index { refused[Int(index)] = reason }
    }
    if refused.count == faults.count, !refused.isEmpty { return .partial(refused: refused) }
    guard faults.count == count else { return nil }
    // As many faults as events: all of them, in whichever order.
    let all = faults.map { $0.objectValue.flatMap(ItemStatuses.reason) ?? "refused" }
    return .partial(refused: Dictionary(uniqueKeysWithValues: all.enumerated().map { ($0, $1) }))
  }
}

/// The names of events at GameAnalytics, made once a name.
struct GameAnalyticsTitles: Sendable {
  private var names = ByteInterner()
  private var titles: [[UInt8]?] = []
  private static let most = 10_000

  /// The `event_id`; nil when it cannot be one.
  mutating func title(of name: RawSpan, renamed: [UInt8]?) -> [UInt8]? {
    if let number = names.find(name) { return titles[number] }
    if titles.count == Self.most {
      names.removeAll()
      titles.removeAll(keepingCapacity: true)
    }
    let text = String(decoding: name.copied(), as: UTF8.self)
    let title = renamed ?? Array(EventType(rawValue: text).gameAnalyticsName.utf8)
    _ = names.intern(name)
    titles.append(GameAnalyticsRules.isEventID(title) ? title : nil)
    return titles[titles.count - 1]
  }
}
