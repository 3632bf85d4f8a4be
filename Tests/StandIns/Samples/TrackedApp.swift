// An app with automatic tracking, as the documentation shows it.
import Analytics
import AutoTracking
import UIKit

@MainActor
func startTracking(_ analytics: any AnalyticsEventSending) throws -> PlanFollower {
  var configuration = AutoTrackingConfiguration()
  configuration.excludedScreens = ["Login*", "PinViewController"]
  let tracker = AutoTracker(sendingTo: analytics, configuration)
  tracker.observeUIKit()
  return try PlanFollower("https://events.example.com/v1/plan", for: tracker)
}

@MainActor
func describe(_ banner: UIView, _ card: UIView) {
  banner.trackingParameters = ["url": "https://shop.example/sale"]
  card.trackingPrivacy = .masked
}
