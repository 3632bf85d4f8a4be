import Analytics
import AnalyticsTestSupport
import AutoTracking
import Foundation
import TestSupport
import Testing

/// "Add tracking to an app in ten minutes": its Swift is what this target compiles, and it works.
@Suite(.timeLimit(.minutes(5)))
struct GuideTests {
  @Test func `the guide's Swift is what this target compiles`() throws {
    let text = try String(
      contentsOf: Readme.root.appending(path: "Sources/Analytics/Analytics.docc/AddTracking.md"),
      encoding: .utf8)
    let shown = Readme(text: text).code(in: "swift")
    #expect(shown.count == 7)
    #expect(Set(shown) == (try Readme.compiledSnippets("GuideSnippets")))
  }

  @Test func `the guide's app reports nothing of its interface before a plan came`() throws {
    let folder = try TemporaryFolder()
    let recorder = AnalyticsRecorder()
    let analytics = try AnalyticsService(providers: [recorder])
    let tracker = try trackInterface(
      analytics, collector: "http://127.0.0.1:9", folder: folder.path)
    #expect(tracker.plan == nil && tracker.metrics.seen == 0)
  }

  @Test func `the guide's app tracks, and keeps what cannot be sent yet`() async throws {
    let folder = try TemporaryFolder()
    // Nobody listens there.
    let analytics = try makeAnalytics(
      collector: "http://127.0.0.1:9", key: "key", folder: folder.path)
    appLaunched(analytics)
    signedIn("u-1", analytics)
    RecipeAnalytics(analytics: analytics).shared("Pancakes", with: 2)
    #expect(await analytics.flush().waiting == 4)
    trackingSwitched(on: false, analytics)
    signedOut(analytics)
    #expect(await analytics.flush().waiting == 0)
    #expect(await analytics.isOptedOut)
    trackingSwitched(on: true, analytics)
    #expect(await !analytics.isOptedOut)
  }
}
