import Analytics
import AnalyticsTestSupport
import Testing

@Test func `an opened recipe is tracked with its title`() {
  let recorder = AnalyticsRecorder()
  RecipeAnalytics(analytics: recorder).opened("Pancakes", minutes: 20)
  #expect(recorder.names == ["Recipe Opened"])
  #expect(recorder.events(of: EventType.RecipeOpened.self).first?.title == "Pancakes")
}
