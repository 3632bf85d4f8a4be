import Analytics

extension EventType {
  struct RecipeOpened: PublishableEvent, Codable {
    static let eventType: EventType = "Recipe Opened"
    var title: String
    var minutes: Int
  }
}
