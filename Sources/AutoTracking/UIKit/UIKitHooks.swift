// Where UIKit is listened to. Five methods are exchanged, once, since UIKit has no other place where all
// of it passes: UIControl.sendAction, UIView.addGestureRecognizer, UIViewController.viewDidAppear, the
// delegate of tables and of collections, and UIAlertAction's making. Each does what it did, and tells.
#if canImport(UIKit)
  internal import EventModel
  internal import ObjectiveC
  internal import UIKit

  extension AutoTracker {
    /// Reports controls, gestures, screens, alerts and cells from now on, without the app implementing
    /// anything. Call it once, before the first window is made; several trackers may observe.
    @MainActor
    public func observeUIKit() {
      UIKitHooks.trackers.append(self)
      UIKitHooks.install()
    }
  }

  @MainActor
  enum UIKitHooks {
    static var trackers: [AutoTracker] = []
    private static var isInstalled = false

    static func record(
      _ action: TrackedAction, sender: String, from responder: UIResponder,
      state: [EventPath.State] = [], texts: [EventPath.State] = []
    ) {
      for tracker in trackers {
        tracker.record(action, sender: sender, from: responder, state: state, texts: texts)
      }
    }

    static func install() {
      guard !isInstalled else { return }
      isInstalled = true
      exchange(
        UIControl.self, #selector(UIControl.sendAction(_:to:for:)),
        #selector(UIControl.tracked_sendAction(_:to:for:)))
      exchange(
        UIView.self, #selector(UIView.addGestureRecognizer(_:)),
        #selector(UIView.tracked_addGestureRecognizer(_:)))
      exchange(
        UIViewController.self, #selector(UIViewController.viewDidAppear(_:)),
        #selector(UIViewController.tracked_viewDidAppear(_:)))
      exchange(
        UITableView.self, #selector(setter: UITableView.delegate),
        #selector(UITableView.tracked_setDelegate(_:)))
      exchange(
        UICollectionView.self, #selector(setter: UICollectionView.delegate),
        #selector(UICollectionView.tracked_setDelegate(_:)))
      exchangeAlertAction()
    }

    private static func exchange(_ type: AnyClass, _ old: Selector, _ new: Selector) {
      guard let old = unsafe class_getInstanceMethod(type, old),
        let new = unsafe class_getInstanceMethod(type, new)
      else { return }
      unsafe method_exchangeImplementations(old, new)
    }

    private static func exchangeAlertAction() {
      let made = #selector(UIAlertAction.init(title:style:handler:))
      let tracked = #selector(UIAlertAction.tracked_action(title:style:handler:))
      guard let old = unsafe class_getClassMethod(UIAlertAction.self, made),
        let new = unsafe class_getClassMethod(UIAlertAction.self, tracked)
      else { return }
      unsafe method_exchangeImplementations(old, new)
    }
  }

  extension UIControl {
    @objc func tracked_sendAction(_ action: Selector, to target: Any?, for event: UIEvent?) {
      // A control with several targets sends as often; the first of one event tells.
      if UIKitHooks.isFirst(self, event) {
        UIKitHooks.record(trackedAction, sender: trackedName, from: self)
      }
      tracked_sendAction(action, to: target, for: event)
    }

    private var trackedAction: TrackedAction {
      switch self {
      case is UITextField: .editingEnded
      case is UISwitch, is UISegmentedControl, is UIStepper, is UISlider: .valueChanged
      default: .buttonClick
      }
    }
  }

  extension UIKitHooks {
    private static weak var lastControl: UIControl?
    private static var lastTime: Double = -1

    static func isFirst(_ control: UIControl, _ event: UIEvent?) -> Bool {
      guard let event else { return true }
      if lastControl === control, lastTime == event.timestamp { return false }
      lastControl = control
      lastTime = event.timestamp
      return true
    }
  }

  extension UIView {
    @objc func tracked_addGestureRecognizer(_ recognizer: UIGestureRecognizer) {
      tracked_addGestureRecognizer(recognizer)
      GestureTarget.shared.observe(recognizer)
    }
  }

  /// A further target of each gesture; the app's own are called as before.
  @MainActor
  final class GestureTarget: NSObject {
    static let shared = GestureTarget()

    func observe(_ recognizer: UIGestureRecognizer) {
      recognizer.addTarget(self, action: #selector(recognized(_:)))
    }

    @objc func recognized(_ recognizer: UIGestureRecognizer) {
      guard let view = recognizer.view, let action = action(of: recognizer) else { return }
      // Controls tell of themselves.
      guard !(view is UIControl) else { return }
      UIKitHooks.record(
        action, sender: String(describing: type(of: recognizer)), from: view)
    }

    private func action(of recognizer: UIGestureRecognizer) -> TrackedAction? {
      let state = recognizer.state
      switch recognizer {
      case is UITapGestureRecognizer: return state == .ended ? .tap : nil
      case is UISwipeGestureRecognizer: return state == .ended ? .swipe : nil
      case is UILongPressGestureRecognizer: return state == .began ? .longPress : nil
      default: return state == .ended ? .gesture : nil
      }
    }
  }

  extension UIViewController {
    @objc func tracked_viewDidAppear(_ isAnimated: Bool) {
      tracked_viewDidAppear(isAnimated)
      let isAlert = self is UIAlertController
      UIKitHooks.record(isAlert ? .alertView : .screenView, sender: trackedName, from: self)
      if let view = viewIfLoaded { SelectionProxy.adopt(view) }
    }
  }

  extension UIAlertAction {
    @objc class func tracked_action(
      title: NSString?, style: UIAlertAction.Style, handler: ((UIAlertAction) -> Void)?
    ) -> UIAlertAction {
      tracked_action(title: title, style: style) { action in
        // The alert is gone by now: the application stands for the place.
        UIKitHooks.record(
          .alertAction, sender: "UIAlertAction", from: UIApplication.shared,
          state: [.init("style", "\(style.rawValue)")],
          texts: title.map { [.init("currentTitle", "\($0)")] } ?? [])
        handler?(action)
      }
    }
  }
#endif
