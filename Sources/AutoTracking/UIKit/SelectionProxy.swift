#if canImport(UIKit)
  internal import EventModel
  internal import ObjectiveC
  internal import UIKit

  /// Stands before a table's or a collection's delegate: tells of cells that are chosen, also where the
  /// delegate does not implement selection, or where there is none, and passes everything on.
  ///
  /// Used on the main actor alone. It is not of it, since what `NSObject` is asked is asked from anywhere
  /// as far as the compiler knows.
  final class SelectionProxy: NSObject {
    /// Views of one screen that are looked at for tables without a delegate.
    private static let maximumViews = 5000

    fileprivate weak var delegate: NSObject?

    init(_ delegate: NSObject?) {
      self.delegate = delegate
      super.init()
    }

    override func responds(to selector: Selector!) -> Bool {
      super.responds(to: selector) || delegate?.responds(to: selector) ?? false
    }

    override func forwardingTarget(for selector: Selector!) -> Any? { delegate }
  }

  extension SelectionProxy: UITableViewDelegate, UICollectionViewDelegate {
    func tableView(_ tableView: UITableView, didSelectRowAt indexPath: IndexPath) {
      let cell = tableView.cellForRow(at: indexPath) ?? tableView
      Self.record("UITableView", cell, indexPath)
      (delegate as? any UITableViewDelegate)?.tableView?(tableView, didSelectRowAt: indexPath)
    }

    func collectionView(
      _ collectionView: UICollectionView, didSelectItemAt indexPath: IndexPath
    ) {
      let cell = collectionView.cellForItem(at: indexPath) ?? collectionView
      Self.record("UICollectionView", cell, indexPath)
      (delegate as? any UICollectionViewDelegate)?
        .collectionView?(collectionView, didSelectItemAt: indexPath)
    }

    @MainActor private static func record(_ sender: String, _ view: UIView, _ place: IndexPath) {
      UIKitHooks.record(
        .cellSelect, sender: sender, from: view,
        state: [.init("section", "\(place.section)"), .init("row", "\(place.item)")])
    }

    /// The proxy for a delegate that a view is given; it lives as long as the view.
    @MainActor static func standing(before delegate: NSObject?, of view: UIView) -> SelectionProxy {
      if let proxy = delegate as? SelectionProxy { return proxy }
      let proxy = SelectionProxy(delegate)
      TrackedAttributes.shared[view].companion = proxy
      return proxy
    }

    /// Tables and collections below that were never given a delegate get the proxy alone.
    @MainActor static func adopt(_ root: UIView) {
      var views = [root]
      var seen = 0
      while let view = views.popLast(), seen < maximumViews {
        seen += 1
        views += view.subviews
        if let table = view as? UITableView, table.delegate == nil { table.delegate = nil }
        if let collection = view as? UICollectionView, collection.delegate == nil {
          collection.delegate = nil
        }
      }
    }
  }

  extension UITableView {
    @objc func tracked_setDelegate(_ delegate: NSObject?) {
      tracked_setDelegate(SelectionProxy.standing(before: delegate, of: self))
    }
  }

  extension UICollectionView {
    @objc func tracked_setDelegate(_ delegate: NSObject?) {
      tracked_setDelegate(SelectionProxy.standing(before: delegate, of: self))
    }
  }
#endif
