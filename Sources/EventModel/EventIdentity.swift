/// Who an event is about. Providers refuse events without either id, so a producer makes an anonymous
/// one once and keeps it.
public struct EventIdentity: Hashable, Sendable {
  /// The person, once known.
  public var userId: String?
  /// The installation, made once; empty leaves it out.
  public var anonymousId: String

  public init(userId: String? = nil, anonymousId: String) {
    self.userId = userId
    self.anonymousId = anonymousId
  }
}
