import Analytics
import AutoTracking
import Foundation
import TrackingPlan

/// What people do in the app: a feed, a profile, a game, and a screen of views that are tracked by
/// themselves, as a plan says.
@MainActor
final class SampleScreen {
  private let analytics: AnalyticsService
  private let feed: FeedAnalyticalRegistry
  private let profile: ProfileAnalyticalRegistry
  private let tracker: AutoTracker
  private let application = SampleView("UIApplication", role: .application)
  private let button: SampleView
  private let unlisted: SampleView

  init(_ analytics: AnalyticsService) throws {
    self.analytics = analytics
    feed = FeedAnalyticalRegistry(analytics)
    profile = ProfileAnalyticalRegistry(analytics)
    tracker = AutoTracker(sendingTo: analytics)
    let screen = SampleView("ShopController", role: .viewController, in: application)
    let view = SampleView("UIView", index: 0, in: screen)
    button = SampleView("UIButton", index: 0, in: view)
    unlisted = SampleView("UIButton", index: 1, in: view)
    let plan = """
      {"version": 1, "collection": {"events": [
        {"event": "Order Placed", "paths": ["#buttonClick:#UIButton#UIButton[0]#...#ShopController#..."]}
      ]}}
      """
    _ = tracker.apply(try PublishedPlan(bytes: Array(plan.utf8)))
  }

  /// `count` events of all kinds, one after another.
  func play(_ count: Int) {
    for number in 0..<count {
      switch number % 6 {
      case 0: feed.postOpened()
      case 1: feed.postLiked(number.isMultiple(of: 4))
      case 2: profile.profileFieldsChanged(firstName: true, bio: number.isMultiple(of: 4))
      case 3: analytics.track(EventType.GameStarted(opponentType: .human))
      case 4: tracker.record(.buttonClick, from: button)
      default:
        // Not in the plan: it gives no event, so the number goes to the next line's.
        tracker.record(.buttonClick, from: unlisted)
        analytics.track(
          EventType.GameEnded(opponentType: .human, winningPlayer: .draw, moveCount: number))
      }
    }
  }
}

/// A view of a framework that is not UIKit.
@MainActor
final class SampleView: TrackedResponder {
  let trackedName: String
  let trackedIndex: Int?
  let trackedRole: TrackedRole
  let nextTrackedResponder: (any TrackedResponder)?

  init(
    _ name: String, index: Int? = nil, role: TrackedRole = .view,
    in parent: (any TrackedResponder)? = nil
  ) {
    trackedName = name
    trackedIndex = index
    trackedRole = role
    nextTrackedResponder = parent
  }
}
