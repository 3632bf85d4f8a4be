internal import EventModel
internal import HTTPServer

/// What a path asks for.
enum CollectorRoute: Hashable, Sendable {
  /// One event of a kind, as Segment's clients send it.
  case single(EventKind)
  /// Segment's batch.
  case batch
  /// A plain list of events.
  case events
  case mixpanelTrack
  case mixpanelImport
  /// Mixpanel's updates of profiles, which become identify and group events.
  case mixpanelEngage
  case mixpanelGroups
  /// Counters that Segment's mobile clients send about themselves: read and thrown away.
  case clientMetrics

  static let paths: [String: CollectorRoute] = [
    "/v1/track": .single(.track), "/v1/t": .single(.track),
    "/v1/identify": .single(.identify), "/v1/i": .single(.identify),
    "/v1/page": .single(.page), "/v1/p": .single(.page),
    "/v1/screen": .single(.screen), "/v1/s": .single(.screen),
    "/v1/group": .single(.group), "/v1/g": .single(.group),
    "/v1/alias": .single(.alias), "/v1/a": .single(.alias),
    "/v1/batch": .batch, "/v1/import": .batch, "/v1/b": .batch,
    "/v1/events": .events, "/v1/m": .clientMetrics,
    "/track": .mixpanelTrack, "/import": .mixpanelImport, "/engage": .mixpanelEngage,
    "/groups": .mixpanelGroups,
  ]

  /// A slash at the end is as good as none.
  static func named(_ path: String) -> CollectorRoute? {
    if let route = paths[path] { return route }
    guard path.utf8.count > 1, path.hasSuffix("/") else { return nil }
    return paths[String(path.dropLast())]
  }

  var isMixpanel: Bool {
    switch self {
    case .mixpanelTrack, .mixpanelImport, .mixpanelEngage, .mixpanelGroups: true
    default: false
    }
  }

  /// For counters: few, whatever clients send.
  var label: String {
    switch self {
    case .single(let kind): "/v1/\(kind.rawValue)"
    case .batch: "/v1/batch"
    case .events: "/v1/events"
    case .clientMetrics: "/v1/m"
    case .mixpanelTrack: "/track"
    case .mixpanelImport: "/import"
    case .mixpanelEngage: "/engage"
    case .mixpanelGroups: "/groups"
    }
  }
}
