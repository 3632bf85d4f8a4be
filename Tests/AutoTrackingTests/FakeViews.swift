import AutoTracking
import EventModel

/// A view tree as an app has one: what automatic tracking must cope with, without UIKit.
@MainActor
class FakeView: TrackedResponder {
  private(set) weak var superview: FakeView?
  private(set) var subviews: [FakeView] = []
  /// The view controller whose view this is.
  weak var controller: FakeViewController?
  weak var application: FakeApplication?
  var parameters: [EventPath.State] = []
  var privacy = TrackedPrivacy.open

  var trackedName: String { String(describing: type(of: self)) }
  var trackedIndex: Int? { superview?.subviews.firstIndex { $0 === self } ?? 0 }
  var trackedRole: TrackedRole { .view }
  var nextTrackedResponder: (any TrackedResponder)? { controller ?? superview ?? application }
  var trackedParameters: [EventPath.State] { parameters }
  var trackedPrivacy: TrackedPrivacy { privacy }
  var trackedState: [EventPath.State] { [] }
  var trackedTexts: [EventPath.State] { [] }

  func add(_ views: FakeView...) {
    for view in views {
      view.superview = self
      subviews.append(view)
    }
  }

  func removeAll() { subviews = [] }
}

class FakeViewController: TrackedResponder {
  let view = FakeView()
  weak var parent: FakeViewController?
  var privacy = TrackedPrivacy.open

  var trackedName: String { String(describing: type(of: self)) }
  var trackedRole: TrackedRole { .viewController }
  var trackedPrivacy: TrackedPrivacy { privacy }
  var nextTrackedResponder: (any TrackedResponder)? { parent ?? view.superview }

  init() { view.controller = self }
}

final class UIButton: FakeView {
  var currentTitle: String?
  var isEnabled = true
  var isSelected = false
  var isHighlighted = true

  override var trackedState: [EventPath.State] {
    [
      .init("state", isHighlighted ? "1" : "0"), .init("enabled", isEnabled ? "1" : "0"),
      .init("selected", isSelected ? "1" : "0"),
    ]
  }

  override var trackedTexts: [EventPath.State] {
    currentTitle.map { [.init("currentTitle", $0)] } ?? []
  }
}

final class UISwitch: FakeView {
  var isOn = false
  override var trackedState: [EventPath.State] { [.init("on", isOn ? "1" : "0")] }
}

final class UITextField: FakeView {
  var text = ""
  override var trackedTexts: [EventPath.State] { [.init("text", text)] }
  override var trackedPrivacy: TrackedPrivacy { max(privacy, .masked) }
}

final class FeedCell: FakeView {
  override var trackedRole: TrackedRole { .cell }
}

/// Chooses cells whether its delegate wants to know or not, as a table does.
final class UITableView: FakeView {
  var select: ((Int) -> Void)?

  func choose(row: Int, _ tracker: AutoTracker) {
    select?(row)
    tracker.record(
      .cellSelect, sender: "UITableView", from: subviews[row],
      state: [.init("section", "0"), .init("row", "\(row)")])
  }
}

final class UIWindow: FakeView {}

final class FakeApplication: TrackedResponder {
  let delegate = AppDelegate()
  var trackedName: String { "UIApplication" }
  var trackedRole: TrackedRole { .application }
  var nextTrackedResponder: (any TrackedResponder)? { delegate }
}

final class AppDelegate: TrackedResponder {
  var trackedName: String { "AppDelegate" }
  var trackedRole: TrackedRole { .delegate }
  var nextTrackedResponder: (any TrackedResponder)? { nil }
}

struct Banner {
  enum Kind: String { case sale, news }
  struct Link: CustomStringConvertible {
    var text: String
    var description: String { text }
  }

  var url: Link
  var kind = Kind.sale
  var position: Int? = 3
  var price = 9.5
  var tags = ["a", "b"]
}

class ScreenController: FakeViewController {
  var banner: Banner? = Banner(url: .init(text: "https://a.example/sale"))
}

final class ViewController: ScreenController {
  lazy var voucher = "V-4712"
  var accessToken = "secret-token"
  let amount = UIButton()
  let passwordField = UITextField()
  let button = UIButton()
}

/// An app with one screen in one window.
@MainActor
struct FakeApp {
  let application = FakeApplication()
  let window = UIWindow()
  let screen: FakeViewController
  let button = UIButton()

  init(_ screen: FakeViewController = ViewController()) {
    self.screen = screen
    window.application = application
    window.add(screen.view)
    screen.view.add(button)
    button.currentTitle = "Button"
  }
}
