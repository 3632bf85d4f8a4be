internal import EventModel

/// The agreed event types and their properties, and which places of the interface report which of them.
///
/// One file (`PlanDocument+File.swift` has its layout) with two parts, of which either may be missing:
/// ``events`` is what `plan check` holds events against, ``collection`` is what apps get.
public struct PlanDocument: Hashable, Sendable {
  /// Of two plans the one with the higher version counts. From 1.
  public var version: Int
  /// In the order of the file.
  public var events: [EventDefinition] = []
  /// Whether events that the plan does not name are in order.
  public var allowsOthers = false
  /// Which places report which events.
  public var collection = CollectionPlan()

  /// A plan that says nothing yet.
  public init(version: Int = 1) { self.version = version }

  /// The definition of the event called `name`, byte for byte.
  public subscript(event name: String) -> EventDefinition? {
    events.first { $0.name == EventType(name) }
  }

  /// The same plan without what only people and tools read: what apps get.
  public var forApps: PlanDocument {
    var plan = PlanDocument(version: version)
    plan.allowsOthers = true
    plan.collection = collection
    return plan
  }
}

/// What a plan may have.
public enum PlanLimits {
  /// Bytes of the file, and of the plan as it is distributed.
  public static let maximumBytes = 2 << 20
  /// Event types.
  public static let maximumEvents = 10_000
  /// Properties of one event.
  public static let maximumProperties = 500
  /// Patterns of paths, those of exclusions included.
  public static let maximumPatterns = 20_000
  /// Names that a key path has.
  public static let maximumKeys = 8
}

/// What is wrong in a plan, and where.
public struct PlanError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The file; empty where there is none.
  public var path: String
  /// From 1.
  public var line: Int
  /// What is wrong, and what was most likely meant.
  public var text: String

  /// A fault at a line.
  public init(path: String, line: Int, text: String) {
    self.path = path
    self.line = line
    self.text = text
  }

  /// The file, the line, and what is wrong.
  public var description: String {
    path.isEmpty ? "line \(line): \(text)" : "\(path), line \(line): \(text)"
  }
}
