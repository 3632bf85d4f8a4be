import Analytics
import AnalyticsTestSupport
import AutoTracking
import EventModel
import Testing
import TrackingPlan

/// Tests of automatic tracking over a pretended view tree (S3.1 to S3.8).
@MainActor
@Suite struct AutoTrackerTests {
  private let recorder = AnalyticsRecorder()

  private func tracker(
    _ plan: PublishedPlan? = nil, _ change: (inout AutoTrackingConfiguration) -> Void = { _ in }
  ) -> AutoTracker {
    var configuration = AutoTrackingConfiguration()
    change(&configuration)
    let tracker = AutoTracker(sendingTo: recorder, configuration)
    if let plan { tracker.apply(plan) }
    return tracker
  }

  private var paths: [String?] { recorder.events.map { $0.eventProperties?["$path"]?.stringValue } }

  @Test func `S3.1 an event is identified by the responder chain with indexes among siblings`() {
    let app = FakeApp()
    tracker { $0.reportsRawPaths = true }.record(.buttonClick, from: app.button)
    #expect(
      paths == [
        "#buttonClick:#UIButton#UIButton[0]#FakeView[0]#ViewController#UIWindow[0]#UIApplication"
          + "#AppDelegate#state=1#enabled=1#selected=0"
      ])
    #expect(recorder.names == ["$autotrack"])
  }

  @Test func `S3.2 state that changes the meaning is appended`() throws {
    let app = FakeApp()
    let toggle = UISwitch()
    app.screen.view.add(toggle)
    let tracker = tracker { $0.reportsRawPaths = true }
    tracker.record(.valueChanged, from: toggle)
    toggle.isOn = true
    tracker.record(.valueChanged, from: toggle)
    #expect(paths.map { $0?.suffix(5) } == ["#on=0", "#on=1"])
    let asking = self.tracker(
      try PlanText.plan(PlanText.entry("Bought", "#buttonClick:#...#currentTitle=Button#state=1")))
    recorder.removeAll()
    asking.record(.buttonClick, from: app.button)
    #expect(
      paths == [
        "#buttonClick:#UIButton#UIButton[0]#FakeView[0]#ViewController#UIWindow[0]#UIApplication"
          + "#AppDelegate#currentTitle=Button#state=1#enabled=1#selected=0"
      ])
  }

  @Test func `S3.3 parameters that the app attached are appended and become properties`() throws {
    let app = FakeApp()
    app.button.parameters = [.init("url", "https://a.example/?a=1#b")]
    let tracker = tracker(
      try PlanText.plan(
        PlanText.entry(
          "Banner Tapped", "#tap:#...", properties: "\"url\": {\"state\": \"url\"}")))
    tracker.record(.tap, sender: "UITapGestureRecognizer", from: app.button)
    #expect(recorder.names == ["Banner Tapped"])
    #expect(recorder.events[0].eventProperties?["url"] == "https://a.example/?a=1#b")
    #expect(paths[0]?.hasSuffix("#url=https://a.example/?a\\=1\\#b") == true)
  }

  @Test func `S3.4 a control, what is inside it, and a listed screen are excluded`() throws {
    let app = FakeApp()
    let panel = FakeView()
    let inner = UIButton()
    panel.add(inner)
    app.screen.view.add(panel)
    panel.privacy = .excluded
    let plan = try PlanText.plan(PlanText.entry("Any", "#*:#..."))
    let tracker = tracker(plan)
    tracker.record(.buttonClick, from: inner)
    #expect(recorder.names == [])
    #expect(tracker.metrics.excluded == 1)
    tracker.record(.buttonClick, from: app.button)
    #expect(recorder.names == ["Any"])
    let listed = self.tracker(plan) { $0.excludedScreens = ["View*"] }
    listed.record(.buttonClick, from: app.button)
    #expect(recorder.names == ["Any"])
    #expect(listed.metrics.excluded == 1)
    let byPlan = self.tracker(
      try PlanText.plan(
        PlanText.entry("Any", "#*:#..."), rest: ", \"exclude\": {\"screens\": [\"View*\"]}"))
    byPlan.record(.screenView, from: app.screen)
    #expect(recorder.names == ["Any"])
  }

  @Test func `S3.5 controls, gestures, screens, alerts and cells are collected by themselves`()
    throws
  {
    let app = FakeApp()
    let table = UITableView()
    table.add(FeedCell(), FeedCell())
    app.screen.view.add(table)
    let tracker = tracker(
      try PlanText.plan(
        [
          PlanText.entry("Clicked", "#buttonClick:#...#ViewController#..."),
          PlanText.entry("Tapped", "#tap:#UITapGestureRecognizer#..."),
          PlanText.entry("Seen", "#screenView:#ViewController#ViewController#..."),
          PlanText.entry("Asked", "#alertView:#..."),
          PlanText.entry(
            "Row", "#cellSelect:#UITableView#FeedCell[*]#...",
            properties: "\"row\": {\"state\": \"row\"}"),
        ].joined(separator: ", ")))
    tracker.record(.buttonClick, from: app.button)
    tracker.record(.tap, sender: "UITapGestureRecognizer", from: app.screen.view)
    tracker.record(.screenView, from: app.screen)
    tracker.record(.alertView, sender: "UIAlertController", from: app.screen)
    // Nobody implements the selection.
    #expect(table.select == nil)
    table.choose(row: 1, tracker)
    #expect(recorder.names == ["Clicked", "Tapped", "Seen", "Asked", "Row"])
    #expect(recorder.events[4].eventProperties?["row"] == "1")
    // And where somebody does, it is called.
    var chosen: [Int] = []
    table.select = { chosen.append($0) }
    table.choose(row: 0, tracker)
    #expect(chosen == [0])
    #expect(recorder.events.count == 6)
  }

  @Test func `S3.6 without a plan nothing is reported and a new plan takes effect at once`() throws
  {
    let app = FakeApp()
    let tracker = tracker()
    tracker.record(.buttonClick, from: app.button)
    #expect(recorder.events.isEmpty)
    tracker.apply(try PlanText.plan(version: 1, PlanText.entry("One", "#buttonClick:#...")))
    tracker.record(.buttonClick, from: app.button)
    tracker.record(.screenView, from: app.screen)
    tracker.apply(try PlanText.plan(version: 3, PlanText.entry("Three", "#buttonClick:#...")))
    tracker.record(.buttonClick, from: app.button)
    // One that comes late, from a slow way, does not undo it.
    tracker.apply(try PlanText.plan(version: 2, PlanText.entry("Two", "#buttonClick:#...")))
    tracker.record(.buttonClick, from: app.button)
    #expect(recorder.names == ["One", "Three", "Three"])
    #expect(tracker.metrics.seen == 5)
    #expect(tracker.metrics.sent == 3)
    #expect(tracker.metrics.unmapped == 2)
    #expect(tracker.plan?.document.version == 3)
  }

  @Test func `S3.7 a key path is read at the moment of the event`() throws {
    let app = FakeApp()
    let screen = try #require(app.screen as? ViewController)
    let tracker = tracker(
      try PlanText.plan(
        PlanText.entry(
          "Tapped", "#tap:#...",
          properties: """
            "url": "viewController.banner.url", "kind": "viewController.banner.kind",
            "position": "viewController.banner.position", "price": "viewController.banner.price",
            "second": "viewController.banner.tags.1", "title": "sender.currentTitle",
            "wrong": "viewController.banner.uri", "none": "cell.row"
            """)))
    tracker.record(.tap, from: app.button)
    screen.banner?.url = .init(text: "https://a.example/news")
    screen.banner?.kind = .news
    tracker.record(.tap, from: app.button)
    let first = try #require(recorder.events[0].eventProperties)
    #expect(first["url"] == "https://a.example/sale")
    #expect(first["kind"] == "sale")
    #expect(first["position"] == 3)
    #expect(first["price"] == .double(9.5))
    #expect(first["second"] == "b")
    #expect(first["title"] == "Button")
    #expect(first["wrong"] == nil)
    #expect(recorder.events[1].eventProperties?["url"] == "https://a.example/news")
    #expect(recorder.events[1].eventProperties?["kind"] == "news")
    #expect(tracker.metrics.unreadableValues == 4)
  }

  @Test func `S3.8 several paths are one event and what no entry means is listed with counts`()
    throws
  {
    let old = FakeApp()
    let new = FakeApp(ScreenController())
    let tracker = tracker(
      try PlanText.plan(
        PlanText.entry(
          "Bought", "#buttonClick:#UIButton#UIButton[0]#FakeView[0]#ViewController#...",
          "#buttonClick:#UIButton#UIButton[*]#...#ScreenController#...")))
    tracker.record(.buttonClick, from: old.button)
    tracker.record(.buttonClick, from: new.button)
    #expect(recorder.names == ["Bought", "Bought"])
    for _ in 0..<3 { tracker.record(.screenView, from: new.screen) }
    tracker.record(.screenView, from: old.screen)
    let listed = tracker.unmappedPaths()
    #expect(listed.map(\.count) == [3, 1])
    #expect(
      listed[0].path
        == "#screenView:#ScreenController#ScreenController#UIWindow[0]#UIApplication#AppDelegate")
  }
}
