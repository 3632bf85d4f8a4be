public import EventModel

/// Which places of the interface report which event.
///
/// Only what it lists is reported. It is made by the people who need the numbers, not by those who build
/// the app, and a new one takes effect without a release.
public struct CollectionPlan: Hashable, Sendable {
  /// One event and the paths that mean it: several, since views move from release to release.
  public struct Entry: Hashable, Sendable {
    public var event: EventType
    public var patterns: [EventPathPattern]
    public var properties: [Property] = []

    public init(_ event: EventType, patterns: [EventPathPattern], properties: [Property] = []) {
      self.event = event
      self.patterns = patterns
      self.properties = properties
    }
  }

  /// A property of the event and where its value comes from.
  public struct Property: Hashable, Sendable {
    public enum Source: Hashable, Sendable {
      /// Read at the moment of the event, as `viewController.banner.url`. Only in the app.
      case keyPath([String])
      /// The value of a state or a parameter of the path, as `url`.
      case state(String)
      case constant(PropertyValue)
    }

    public var name: String
    public var source: Source

    public init(_ name: String, _ source: Source) {
      self.name = name
      self.source = source
    }
  }

  /// The first entry that means a path wins.
  public var entries: [Entry] = []
  /// Names of view controllers, `*` as in event patterns, nothing inside of which is reported.
  public var excludedScreens: [String] = []
  public var excludedPaths: [EventPathPattern] = []
  /// Names of states, parameters and key paths' last keys whose values never leave the app.
  public var maskedNames: [String] = []

  public init() {}

  public var isEmpty: Bool {
    entries.isEmpty && excludedScreens.isEmpty && excludedPaths.isEmpty && maskedNames.isEmpty
  }

  /// Where a key path begins: what the first key may be.
  public static let keyPathRoots = [
    "sender", "view", "cell", "viewController", "window", "application", "delegate",
  ]
}
