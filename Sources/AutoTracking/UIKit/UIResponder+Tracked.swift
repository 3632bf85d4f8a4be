// UIKit's responders as automatic tracking sees them. On Linux all of this is only type-checked, against
// declarations of the same shape.
#if canImport(UIKit)
  public import EventModel
  public import UIKit

  extension UIResponder: TrackedResponder {
    public var trackedName: String { String(describing: type(of: self)) }

    public var trackedIndex: Int? {
      guard let view = self as? UIView else { return nil }
      return view.superview?.subviews.firstIndex { $0 === view } ?? 0
    }

    public var nextTrackedResponder: (any TrackedResponder)? { next }

    public var trackedRole: TrackedRole {
      switch self {
      case is UITableViewCell, is UICollectionViewCell: .cell
      case is UIWindow: .window
      case is UIView: .view
      case is UIViewController: .viewController
      case is UIApplication: .application
      default: .delegate
      }
    }

    public var trackedState: [EventPath.State] {
      guard let control = self as? UIControl else { return [] }
      var state: [EventPath.State] = [
        .init("state", "\(control.state.rawValue)"),
        .init("enabled", control.isEnabled ? "1" : "0"),
        .init("selected", control.isSelected ? "1" : "0"),
      ]
      switch control {
      case let control as UISwitch: state.append(.init("on", control.isOn ? "1" : "0"))
      case let control as UISegmentedControl:
        state.append(.init("segment", "\(control.selectedSegmentIndex)"))
      case let control as UIStepper: state.append(.init("value", "\(control.value)"))
      case let control as UISlider: state.append(.init("value", "\(control.value)"))
      default: break
      }
      return state
    }

    public var trackedTexts: [EventPath.State] {
      let text: (name: String, value: String?) =
        switch self {
        case let button as UIButton: ("currentTitle", button.currentTitle)
        case let control as UISegmentedControl:
          (
            "currentTitle",
            control.selectedSegmentIndex < 0
              ? nil : control.titleForSegment(at: control.selectedSegmentIndex)
          )
        case let label as UILabel: ("text", label.text)
        case let controller as UIViewController: ("title", controller.title)
        default: ("", nil)
        }
      return text.value.map { [.init(text.name, $0)] } ?? []
    }

    public var trackedParameters: [EventPath.State] { TrackedAttributes.shared[self].parameters }

    public var trackedPrivacy: TrackedPrivacy {
      if let privacy = TrackedAttributes.shared[self].privacy { return privacy }
      // What people write is theirs.
      let isText = self is UITextField || self is UITextView || self is UISearchBar
      return isText ? .masked : .open
    }

    /// Stored properties of Swift, and of UIKit's a few that only look: a plan comes from outside, and must
    /// not be able to call anything.
    public func trackedValue(forKey key: String) -> Any? {
      if let value = KeyPathReader.child(of: self, key) { return value }
      switch (self, key) {
      case (let view as UIView, "tag"): return view.tag
      case (let view as UIView, "accessibilityIdentifier"): return view.accessibilityIdentifier
      case (let view as UIView, "superview"): return view.superview
      case (let controller as UIViewController, "title"): return controller.title
      case (let controller as UIViewController, "view"): return controller.viewIfLoaded
      case (let controller as UIViewController, "parent"): return controller.parent
      case (let control as UIControl, "isEnabled"): return control.isEnabled
      case (let control as UIControl, "isSelected"): return control.isSelected
      case (let control as UISwitch, "isOn"): return control.isOn
      case (let button as UIButton, "currentTitle"): return button.currentTitle
      case (let label as UILabel, "text"): return label.text
      default: return nil
      }
    }
  }

  // What an app may say of a view or a view controller.
  extension UIResponder {
    /// Parameters for the people who read the numbers, as a banner's `url`: appended to the paths of all
    /// that happens in it, in the order of their names.
    public var trackingParameters: [String: String] {
      get {
        Dictionary(
          TrackedAttributes.shared[self].parameters.map { ($0.name, $0.value) },
          uniquingKeysWith: { first, _ in first })
      }
      set {
        TrackedAttributes.shared[self].parameters = newValue.sorted { $0.key < $1.key }
          .map { .init($0.key, $0.value) }
      }
    }

    /// How much may be told of it and of what is inside: nil is masked for text fields, open for others.
    public var trackingPrivacy: TrackedPrivacy? {
      get { TrackedAttributes.shared[self].privacy }
      set { TrackedAttributes.shared[self].privacy = newValue }
    }
  }
#endif
