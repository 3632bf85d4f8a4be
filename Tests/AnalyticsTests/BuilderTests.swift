import Analytics
import Synchronization
import Testing

/// S0.1 to S0.4: events, triggers, groups and their builders.
@Suite struct BuilderTests {
  /// The model object that an event derives its properties from.
  struct Article: Sendable {
    var title: String
    var paragraphs: [String]
  }

  struct ArticleOpened: PublishableEvent, Codable {
    static let eventType: EventType = "Article Opened"
    var title: String
    var isLong: Bool

    init(_ article: Article) {
      title = article.title
      isLong = article.paragraphs.count > 2
    }
  }

  final class Sent: AnalyticsEventSending {
    private let events = Mutex<[String]>([])
    var names: [String] { events.withLock { $0 } }
    func send(_ event: any PublishableEvent) {
      events.withLock { $0.append(event.eventType.rawValue) }
    }
  }

  private func named(_ name: String) -> AnalyticsEvent { AnalyticsEvent(name: name) }

  private func names(
    @AnalyticsEventBuilder _ events: () -> [any PublishableEvent]
  ) -> [String] { events().map(\.eventType.rawValue) }

  @Test func `S0.1 an event derives its properties from the model object`() throws {
    let event = ArticleOpened(Article(title: "Ducks", paragraphs: ["a", "b", "c"]))
    var writer = PropertyWriter()
    try event.encodeProperties(into: &writer)
    #expect(event.title == "Ducks" && event.isLong && writer.count == 2)
  }

  @Test func `S0.2 the triggers are the seven of a view`() {
    #expect(
      AnalyticsEventTrigger.allCases.map(\.rawValue) == [
        "onAppear", "onDisappear", "task", "onTapGesture", "onLongPressGesture", "onDrag", "onDrop",
      ])
  }

  @Test func `S0.3 groups of one trigger all fire in order and no others do`() {
    let sent = Sent()
    let groups = [
      AnalyticsEventGroup(.task) {
        named("a")
        named("b")
      },
      AnalyticsEventGroup(.onDrop) { named("x") },
      AnalyticsEventGroup(.task) { named("c") },
    ]
    groups.dispatch(.task, to: sent)
    groups.dispatch(.onDrag, to: sent)
    #expect(sent.names == ["a", "b", "c"])
  }

  @Test(arguments: [0, 1, 2]) func `S0.4 events are built with control flow`(_ step: Int) {
    let none: AnalyticsEvent? = nil
    let some: AnalyticsEvent? = named("optional")
    let found = names {
      named("first")
      if step > 0 { named("if") }
      if step == 1 { named("one") } else { named("not one") }
      switch step {
      case 0: named("case 0")
      case 1: ArticleOpened(Article(title: "", paragraphs: []))
      default: named("default")
      }
      for index in 0..<step { named("for \(index)") }
      none
      some
      [named("list a"), named("list b")]
      if #available(macOS 15, iOS 18, *) { named("available") }
    }
    let expected: [[String]] = [
      ["first", "not one", "case 0", "optional"],
      ["first", "if", "one", "Article Opened", "for 0", "optional"],
      ["first", "if", "not one", "default", "for 0", "for 1", "optional"],
    ]
    #expect(found == expected[step] + ["list a", "list b", "available"])
  }

  @Test func `S0.4 nothing at all is an empty list`() {
    #expect(names {}.isEmpty)
  }

  @Test(arguments: [false, true]) func `S0.4 groups are built with control flow`(_ isOn: Bool) {
    @AnalyticsEventGroupBuilder func build() -> [AnalyticsEventGroup] {
      if isOn {
        AnalyticsEventGroup(.onAppear) { named("on") }
      } else {
        AnalyticsEventGroup(.onAppear) { named("off") }
      }
      for trigger in AnalyticsEventTrigger.allCases where trigger != .onAppear {
        AnalyticsEventGroup(trigger) { named(trigger.rawValue) }
      }
      isOn ? AnalyticsEventGroup(.onAppear) { named("again") } : nil
    }
    let groups = build()
    #expect(groups.count == (isOn ? 8 : 7))
    #expect(
      groups.events(for: .onAppear).map(\.eventType.rawValue) == (isOn ? ["on", "again"] : ["off"]))
  }
}
