// What this package uses of UIKit, in the same shape, for type-checking on systems without it. Nothing of
// it does anything.
@_exported public import ObjectiveC

@MainActor @objc open class UIEvent: NSObject {
  open var timestamp: Double { 0 }
}

@MainActor @objc open class UIResponder: NSObject {
  open var next: UIResponder? { nil }
}

@MainActor @objc open class UIApplication: UIResponder {
  open class var shared: UIApplication { UIApplication() }
}

@MainActor @objc open class UIView: UIResponder {
  open var superview: UIView? { nil }
  open var subviews: [UIView] { [] }
  open var tag: Int { 0 }
  open var accessibilityIdentifier: String? { nil }
  @objc open func addGestureRecognizer(_ recognizer: UIGestureRecognizer) {}
}

@MainActor open class UIWindow: UIView {}

@MainActor @objc open class UIViewController: UIResponder {
  open var title: String? { nil }
  open var viewIfLoaded: UIView? { nil }
  open var parent: UIViewController? { nil }
  @objc open func viewDidAppear(_ isAnimated: Bool) {}
}

@MainActor @objc open class UIControl: UIView {
  public struct State: OptionSet, Sendable {
    public let rawValue: UInt
    public init(rawValue: UInt) { self.rawValue = rawValue }
  }

  open var state: State { [] }
  open var isEnabled: Bool { true }
  open var isSelected: Bool { false }
  @objc open func sendAction(_ action: Selector, to target: Any?, for event: UIEvent?) {}
}

@MainActor open class UIButton: UIControl {
  open var currentTitle: String? { nil }
}

@MainActor open class UISwitch: UIControl {
  open var isOn: Bool { false }
}

@MainActor open class UISegmentedControl: UIControl {
  open var selectedSegmentIndex: Int { -1 }
  open func titleForSegment(at segment: Int) -> String? { nil }
}

@MainActor open class UIStepper: UIControl {
  open var value: Double { 0 }
}

@MainActor open class UISlider: UIControl {
  open var value: Float { 0 }
}

@MainActor open class UITextField: UIControl {}
@MainActor open class UITextView: UIView {}
@MainActor open class UISearchBar: UIView {}

@MainActor open class UILabel: UIView {
  open var text: String? { nil }
}

// Gestures.

@MainActor @objc open class UIGestureRecognizer: NSObject {
  public enum State: Int, Sendable { case possible, began, changed, ended, cancelled, failed }

  open var view: UIView? { nil }
  open var state: State { .possible }
  open func addTarget(_ target: Any, action: Selector) {}
}

@MainActor open class UITapGestureRecognizer: UIGestureRecognizer {}
@MainActor open class UISwipeGestureRecognizer: UIGestureRecognizer {}
@MainActor open class UILongPressGestureRecognizer: UIGestureRecognizer {}

// Alerts.

@MainActor open class UIAlertController: UIViewController {}

@MainActor @objc open class UIAlertAction: NSObject {
  @objc public enum Style: Int, Sendable { case `default`, cancel, destructive }

  @objc public convenience init(
    title: NSString?, style: UIAlertAction.Style, handler: ((UIAlertAction) -> Void)? = nil
  ) {
    self.init()
  }
}

// Tables and collections.

@MainActor @objc public protocol UITableViewDelegate: NSObjectProtocol {
  @objc optional func tableView(_ tableView: UITableView, didSelectRowAt indexPath: IndexPath)
}

@MainActor @objc public protocol UICollectionViewDelegate: NSObjectProtocol {
  @objc optional func collectionView(
    _ collectionView: UICollectionView, didSelectItemAt indexPath: IndexPath)
}

/// A class, so that it crosses to Objective-C here too.
@objc public class IndexPath: NSObject {
  public var section: Int { 0 }
  public var item: Int { 0 }
}

@MainActor open class UITableViewCell: UIView {}
@MainActor open class UICollectionViewCell: UIView {}

@MainActor @objc open class UITableView: UIView {
  @objc open weak var delegate: (any UITableViewDelegate)?
  open func cellForRow(at indexPath: IndexPath) -> UITableViewCell? { nil }
}

@MainActor @objc open class UICollectionView: UIView {
  @objc open weak var delegate: (any UICollectionViewDelegate)?
  open func cellForItem(at indexPath: IndexPath) -> UICollectionViewCell? { nil }
}
