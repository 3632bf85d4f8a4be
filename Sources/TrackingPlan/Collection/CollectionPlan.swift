public import EventModel

/// Which places of the interface report which event.
///
/// Only what it lists is reported. It is made by the people who need the numbers, not by those who build
/// the app, and a new one takes effect without a release.
public struct CollectionPlan: Hashable, Sendable {
  /// One event and the paths that mean it: several, since views move from release to release.
  public struct Entry: Hashable, Sendable {
    /// What the paths mean.
    public var event: EventType
    /// Any of them means it.
    public var patterns: [EventPathPattern]
    /// What the event gets.
    public var properties: [Property] = []

    /// An entry; it needs at least one pattern to mean anything.
    public init(_ event: EventType, patterns: [EventPathPattern], properties: [Property] = []) {
      self.event = event
      self.patterns = patterns
      self.properties = properties
    }
  }

  /// A property of the event and where its value comes from.
  public struct Property: Hashable, Sendable {
    /// Where a value comes from.
    public enum Source: Hashable, Sendable {
      /// Read at the moment of the event, as `viewController.banner.url`. Only in the app.
      case keyPath([String])
      /// The value of a state or a parameter of the path, as `url`.
      case state(String)
      case constant(PropertyValue)
    }

    /// As it travels.
    public var name: String
    /// Where its value comes from.
    public var source: Source

    /// A property and where its value comes from.
    public init(_ name: String, _ source: Source) {
      self.name = name
      self.source = source
    }
  }

  /// The first entry that means a path wins.
  public var entries: [Entry] = []
  /// Names of view controllers, `*` as in event patterns, nothing inside of which is reported.
  public var excludedScreens: [String] = []
  /// Paths from which nothing is reported.
  public var excludedPaths: [EventPathPattern] = []
  /// Names of states, parameters and key paths' last keys whose values never leave the app.
  public var maskedNames: [String] = []

  /// A plan by which nothing is reported.
  public init() {}

  /// Whether it says nothing at all.
  public var isEmpty: Bool {
    entries.isEmpty && excludedScreens.isEmpty && excludedPaths.isEmpty && maskedNames.isEmpty
  }

  /// Where a key path begins: what the first key may be.
  public static let keyPathRoots = [
    "sender", "view", "cell", "viewController", "window", "application", "delegate",
  ]
}
