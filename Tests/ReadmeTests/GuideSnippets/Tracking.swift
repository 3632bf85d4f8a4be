import Analytics
import AutoTracking

func trackInterface(
  _ analytics: AnalyticsService, collector: String, folder: String
) throws -> AutoTracker {
  let tracker = AutoTracker(sendingTo: analytics)
  let follower = try PlanFollower(
    collector + "/v1/plan", for: tracker, storePath: folder + "/plan.json")
  Task { await follower.run() }
  return tracker  // then tracker.observeUIKit(), or tracker.record(...) where your controls act
}
