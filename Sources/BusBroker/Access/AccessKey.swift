public import BusTransport
internal import EventModel
internal import Primitives

/// What a key may do, as it is written down: patterns of event names, and for administration of
/// subscribers' names. Nothing listed is nothing allowed.
public struct AccessRights: Hashable, Sendable {
  public var publish: [String] = []
  public var subscribe: [String] = []
  public var administer: [String] = []

  public init() {}

  public var isEmpty: Bool { publish.isEmpty && subscribe.isEmpty && administer.isEmpty }
}

/// A key that the broker lets in.
public struct AccessKey: Hashable, Sendable {
  /// What people call it; no two keys have the same.
  public var name: String
  public var key: CurvePublicKey
  /// When it was authorised, as text; the broker does not look at it.
  public var since: String
  public var rights: AccessRights

  public init(name: String, key: CurvePublicKey, since: String, rights: AccessRights) {
    self.name = name
    self.key = key
    self.since = since
    self.rights = rights
  }
}

/// A key's rights, ready to be asked about. Immutable: changed rights are another holder.
final class AccessHolder: Sendable {
  let entry: AccessKey
  private let publish: [EventPattern]
  private let subscribe: [EventPattern]
  private let administer: [EventPattern]

  init(_ entry: AccessKey) {
    self.entry = entry
    publish = entry.rights.publish.map { EventPattern($0) }
    subscribe = entry.rights.subscribe.map { EventPattern($0) }
    administer = entry.rights.administer.map { EventPattern($0) }
  }

  var name: String { entry.name }
  var mayPublishSomething: Bool { !publish.isEmpty }
  var maySubscribeToSomething: Bool { !subscribe.isEmpty }
  var mayAdministerSomething: Bool { !administer.isEmpty }

  func mayPublish(_ name: RawSpan) -> Bool { publish.contains { $0.matches(name) } }

  /// Whether one right covers all that the pattern can match.
  func maySubscribe(_ pattern: EventPattern) -> Bool { subscribe.contains { $0.covers(pattern) } }

  func mayAdminister(_ subscriber: [UInt8]) -> Bool {
    administer.contains { $0.matches(subscriber) }
  }
}

/// All keys that are let in, by their text.
struct AccessTable: Sendable {
  private let holders: [[UInt8]: AccessHolder]

  init(_ keys: [AccessKey] = []) {
    holders = Dictionary(
      keys.map { (Array($0.key.description.utf8), AccessHolder($0)) }, uniquingKeysWith: { $1 })
  }

  var count: Int { holders.count }

  /// - Parameter key: 40 characters of Z85.
  func holder(of key: [UInt8]) -> AccessHolder? { holders[key] }
  func holder(of key: CurvePublicKey) -> AccessHolder? { holders[Array(key.description.utf8)] }
}
