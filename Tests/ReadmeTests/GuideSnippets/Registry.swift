import Analytics

struct RecipeAnalytics {
  let analytics: any AnalyticsEventSending

  func opened(_ title: String, minutes: Int) {
    analytics.send(EventType.RecipeOpened(title: title, minutes: minutes))
  }

  func shared(_ title: String, with friends: Int) {
    analytics.send(
      AnalyticsEvent(
        "Recipe Shared",
        properties: ["title": .string(title), "friends": PropertyValue(friends)]))
  }
}
