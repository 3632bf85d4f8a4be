/// How automatic tracking is set up in an app.
public struct AutoTrackingConfiguration: Sendable {
  /// Names of view controllers, `*` for any run of characters, nothing inside of which is ever reported,
  /// whatever the plan says.
  public var excludedScreens: [String] = []
  /// Names of states, parameters and keys of key paths, `*` for any run of characters, whose values never
  /// leave the app, whatever the plan says. The usual names of secrets, unless set otherwise.
  public var maskedNames = ["*assword*", "*asscode*", "*ecret*", "*oken*", "pin", "PIN"]
  /// Without a plan, report every path as it is (`RawPaths`), for the collector to map. Texts are
  /// never part of such a path.
  public var reportsRawPaths = false
  /// Send the path of a mapped event too, as `$path`: another plan can then be tried over what was
  /// recorded.
  public var includesPath = true
  /// Different unmapped paths that are counted apart.
  public var maximumUnmappedPaths = 1000

  /// Nothing excluded, nothing without a plan.
  public init() {}
}

/// What automatic tracking has seen since it was made. Seen = sent + raw + unmapped + excluded.
public struct AutoTrackingMetrics: Hashable, Sendable {
  /// All that happened.
  public var seen: UInt64 = 0
  /// Mapped by the plan and sent.
  public var sent: UInt64 = 0
  /// Sent as they were, since there was no plan.
  public var raw: UInt64 = 0
  /// Not listed by the plan, or there was none: not sent.
  public var unmapped: UInt64 = 0
  /// By the app's or the plan's exclusions: not sent.
  public var excluded: UInt64 = 0
  /// Properties that were left out, since their key path led nowhere or to something masked.
  public var unreadableValues: UInt64 = 0

  /// Nothing seen yet.
  public init() {}
}
