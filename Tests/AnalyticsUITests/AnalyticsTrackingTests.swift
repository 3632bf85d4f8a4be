import AnalyticsTestSupport
import AnalyticsUI
import Testing

/// Tests of `track` from inside actions (S0.5).
@MainActor
@Suite struct AnalyticsTrackingTests {
  private struct Liked: PublishableEvent { static let eventType: EventType = "Post Liked" }
  private struct Opened: PublishableEvent { static let eventType: EventType = "Post Opened" }

  /// Stands for a view that holds a service.
  private struct Screen: AnalyticsTracking {
    let analytics: any AnalyticsEventSending

    func like() { track(Liked()) }

    func openAll(_ count: Int, isFirst: Bool) {
      track {
        for _ in 0..<count { Opened() }
        if isFirst { Liked() }
      }
    }

    func like(with other: any AnalyticsEventSending) {
      track(with: other, Liked())
      track(with: other) {
        Opened()
        Liked()
      }
    }
  }

  @Test func `S0.5 an action sends events to the service that its view holds`() {
    let recorder = AnalyticsRecorder()
    let screen = Screen(analytics: recorder)
    screen.like()
    screen.openAll(2, isFirst: true)
    #expect(recorder.names == ["Post Liked", "Post Opened", "Post Opened", "Post Liked"])
  }

  @Test func `S0.5 an action can name another service`() {
    let (own, other) = (AnalyticsRecorder(), AnalyticsRecorder())
    Screen(analytics: own).like(with: other)
    #expect(own.names == [])
    #expect(other.names == ["Post Liked", "Post Opened", "Post Liked"])
  }

  @Test func `S1.4 the default of the environment sends nothing`() {
    Screen(analytics: SilentAnalytics()).like()
  }
}
