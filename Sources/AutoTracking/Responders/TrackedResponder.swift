public import EventModel

/// What automatic tracking needs to know of a view, a view controller, the application: who it is, where
/// it stands, and what comes next.
///
/// UIKit's responders conform already. Anything else that forms a chain can: a framework of one's own, or
/// a pretended tree in tests. Only ``trackedName`` and ``nextTrackedResponder`` have to be written. Read
/// on the main actor, at the moment of an event, from the inside out, 128 responders at most.
@MainActor
public protocol TrackedResponder: AnyObject {
  /// The class, as `UIButton`. Must not hold what a person reads or wrote.
  var trackedName: String { get }

  /// The place among its siblings, from 0; nil for what is no view.
  var trackedIndex: Int? { get }

  /// Where an event would go on: the superview, then the view controller, the window, the application.
  var nextTrackedResponder: (any TrackedResponder)? { get }

  /// What it is, for the first key of key paths.
  var trackedRole: TrackedRole { get }

  /// State that changes what an action means: on or off, the segment, the row. Appended to the path.
  var trackedState: [EventPath.State] { get }

  /// What a person reads on it, as `currentTitle`. Leaves the app only where the plan asks for it.
  var trackedTexts: [EventPath.State] { get }

  /// What the app has attached to it for the people who read the numbers, as a banner's `url`.
  var trackedParameters: [EventPath.State] { get }

  /// How much may be told of it and of everything inside it.
  var trackedPrivacy: TrackedPrivacy { get }

  /// The value of a key path's next key; nil when there is none. The default finds stored properties by
  /// their names, also those of superclasses and lazy ones.
  func trackedValue(forKey key: String) -> Any?
}

/// What a responder is.
public enum TrackedRole: String, Hashable, Sendable {
  case view, cell, viewController, window, application, delegate
}

/// How much may be told of a responder and of what is inside it.
public enum TrackedPrivacy: Int, Hashable, Sendable, Comparable {
  case open
  /// That something happened there may be told, and nothing about it: no text, state, parameter or value.
  /// Text fields are so by themselves.
  case masked
  /// Nothing happens there as far as anybody is told.
  case excluded

  /// The stricter is the greater.
  public static func < (a: TrackedPrivacy, b: TrackedPrivacy) -> Bool { a.rawValue < b.rawValue }
}

extension TrackedResponder {
  /// No view.
  public var trackedIndex: Int? { nil }
  /// A view where there is an index, else a view controller.
  public var trackedRole: TrackedRole { trackedIndex == nil ? .viewController : .view }
  /// None.
  public var trackedState: [EventPath.State] { [] }
  /// None.
  public var trackedTexts: [EventPath.State] { [] }
  /// None.
  public var trackedParameters: [EventPath.State] { [] }
  /// Everything may be told.
  public var trackedPrivacy: TrackedPrivacy { .open }

  /// By reflection: see ``KeyPathReader``.
  public func trackedValue(forKey key: String) -> Any? { KeyPathReader.child(of: self, key) }
}
