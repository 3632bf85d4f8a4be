/// The six kinds of event of the Segment spec: the value of the envelope's field `type`.
public enum EventKind: String, Sendable, Hashable, CaseIterable {
  case track, identify, page, screen, group, alias

  /// The kind written as `text`.
  public init?(_ text: RawSpan) {
    switch text.byteCount {
    case 4 where text.isEqual(to: "page"): self = .page
    case 5 where text.isEqual(to: "track"): self = .track
    case 5 where text.isEqual(to: "group"): self = .group
    case 5 where text.isEqual(to: "alias"): self = .alias
    case 6 where text.isEqual(to: "screen"): self = .screen
    case 8 where text.isEqual(to: "identify"): self = .identify
    default: return nil
    }
  }

  /// The topic under which events of this kind travel; nil for track, whose topic is the event's name.
  public var topic: String? { self == .track ? nil : "$" + rawValue }
}
