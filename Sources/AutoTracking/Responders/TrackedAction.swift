/// What was done, as the path's first word.
public struct TrackedAction: RawRepresentable, Hashable, Sendable, ExpressibleByStringLiteral {
  /// The word in the path.
  public let rawValue: String

  public init(rawValue: String) { self.rawValue = rawValue }

  public init(stringLiteral value: String) { self.init(rawValue: value) }

  /// A control was pressed and let go.
  public static let buttonClick: TrackedAction = "buttonClick"
  /// A switch, a segment, a stepper or a slider has another value.
  public static let valueChanged: TrackedAction = "valueChanged"
  /// Editing of a text ended. What was written is never told.
  public static let editingEnded: TrackedAction = "editingEnded"
  /// A tap gesture.
  public static let tap: TrackedAction = "tap"
  /// A long press began to count.
  public static let longPress: TrackedAction = "longPress"
  /// A swipe gesture.
  public static let swipe: TrackedAction = "swipe"
  /// Any other gesture.
  public static let gesture: TrackedAction = "gesture"
  /// A screen came up.
  public static let screenView: TrackedAction = "screenView"
  /// An alert came up.
  public static let alertView: TrackedAction = "alertView"
  /// An answer of an alert was chosen.
  public static let alertAction: TrackedAction = "alertAction"
  /// A cell of a table or a collection was chosen.
  public static let cellSelect: TrackedAction = "cellSelect"
}
