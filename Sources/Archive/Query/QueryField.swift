internal import EventCodec

/// What a query shows of an event, or groups by.
public enum QueryField: Hashable, Sendable {
  /// The event's name: of a track its own, `$identify` and so on of the others.
  case name
  /// The value at a path from the event's root.
  case path([[UInt8]])

  /// `properties.plan`, with `\.` for a point inside a key. Nil for an empty key.
  public init?(path text: String) {
    let keys = WhereClause.keys(ofPath: text)
    guard keys.allSatisfy({ !$0.isEmpty }) else { return nil }
    self = .path(keys)
  }

  /// As `init(path:)`, but `event` alone is the name, so that all events have one.
  public init?(groupedBy text: String) {
    if text == "event" { self = .name } else { self.init(path: text) }
  }
}
