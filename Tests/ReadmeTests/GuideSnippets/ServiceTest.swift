import Analytics
import AnalyticsTestSupport
import Testing

@Test func `what a signed in person shares says who they are`() async throws {
  let recorder = AnalyticsRecorder()
  let analytics = try AnalyticsService(providers: [recorder])
  analytics.identify("u-1")
  RecipeAnalytics(analytics: analytics).shared("Pancakes", with: 2)
  await analytics.flush()  // the service works on a thread of its own: wait for it
  let shared = recorder.envelopes.last
  #expect(shared?.userId == "u-1")
  #expect(shared?.properties?["friends"] == 2)
}
