import AnalyticsTestSupport
import AutoTracking
import EventModel
import Testing
import TrackingPlan

/// Tests of what never leaves an app.
@MainActor
@Suite struct MaskingTests {
  private let recorder = AnalyticsRecorder()
  private let app = FakeApp()

  private func tracker(_ paths: String, properties: String = "", mask: String = "") throws
    -> AutoTracker
  {
    let tracker = AutoTracker(sendingTo: recorder)
    tracker.apply(
      try PlanText.plan(
        PlanText.entry("Any", paths, properties: properties),
        rest: mask.isEmpty ? "" : ", \"mask\": [\(mask)]"))
    return tracker
  }

  private var sent: String { recorder.events.map { "\($0.eventProperties as Any)" }.joined() }

  @Test func `text of an element is in no id unless the plan asks`() throws {
    app.button.currentTitle = "Hello Jane"
    try tracker("#buttonClick:#...").record(.buttonClick, from: app.button)
    #expect(recorder.events.count == 1)
    #expect(!sent.contains("Jane"))
  }

  @Test func `what is written into a text field is never told, whatever the plan asks`() throws {
    let field = UITextField()
    field.text = "Jane"
    app.screen.view.add(field)
    let tracker = try tracker(
      "#editingEnded:#...", properties: "\"t\": \"sender.text\", \"u\": {\"state\": \"text\"}")
    tracker.record(.editingEnded, from: field)
    #expect(recorder.events.count == 1)
    #expect(!sent.contains("Jane"))
    #expect(tracker.metrics.unreadableValues == 1)
    let asking = try self.tracker("#editingEnded:#...#text=*")
    asking.record(.editingEnded, from: field)
    #expect(recorder.events.count == 1)
  }

  @Test func `everything inside a masked view is masked`() throws {
    let panel = FakeView()
    let toggle = UISwitch()
    panel.add(toggle)
    panel.privacy = .masked
    panel.parameters = [.init("patient", "Jane")]
    app.screen.view.add(panel)
    try tracker("#valueChanged:#...", properties: "\"b\": \"viewController.banner.price\"")
      .record(.valueChanged, from: toggle)
    #expect(recorder.events.count == 1)
    #expect(!sent.contains("Jane"))
    #expect(!sent.contains("#on="))
    #expect(!sent.contains("9.5"))
  }

  @Test func `a key path does not pass through what is masked`() throws {
    let screen = try #require(app.screen as? ViewController)
    screen.passwordField.text = "Jane"
    try tracker("#tap:#...", properties: "\"p\": \"viewController.passwordField.text\"")
      .record(.tap, from: app.button)
    #expect(recorder.events.count == 1)
    #expect(!sent.contains("Jane"))
  }

  @Test func `values of names that the plan masks stay in the app`() throws {
    app.button.parameters = [.init("accountNumber", "4711"), .init("kind", "x")]
    let screen = try #require(app.screen as? ViewController)
    _ = screen.voucher
    try tracker(
      "#tap:#...", properties: "\"t\": \"viewController.voucher\", \"k\": {\"state\": \"kind\"}",
      mask: "\"account*\", \"voucher\""
    ).record(.tap, from: app.button)
    #expect(recorder.events.count == 1)
    #expect(!sent.contains("4711"))
    #expect(!sent.contains("4712"))
    #expect(recorder.events[0].eventProperties?["k"] == "x")
    recorder.removeAll()
    try tracker("#tap:#...", properties: "\"t\": \"viewController.voucher\"")
      .record(.tap, from: app.button)
    #expect(recorder.events[0].eventProperties?["t"] == "V-4712")
  }

  @Test func `the usual names of secrets are masked by the app itself`() throws {
    app.button.parameters = [.init("sessionToken", "abc")]
    try tracker("#tap:#...", properties: "\"t\": \"viewController.accessToken\"")
      .record(.tap, from: app.button)
    #expect(recorder.events.count == 1)
    #expect(!sent.contains("secret"))
    #expect(!sent.contains("abc"))
  }

  @Test func `a view inside of a masked one is masked where a key path finds it`() throws {
    let screen = try #require(app.screen as? ViewController)
    let panel = FakeView()
    panel.add(screen.amount)
    app.screen.view.add(panel)
    screen.amount.currentTitle = "Jane owes 12"
    let tracker = try tracker(
      "#tap:#...", properties: "\"a\": \"viewController.amount.currentTitle\"")
    tracker.record(.tap, from: app.button)
    #expect(recorder.events[0].eventProperties?["a"] == "Jane owes 12")
    panel.privacy = .masked
    tracker.record(.tap, from: app.button)
    #expect(recorder.events[1].eventProperties?["a"] == nil)
  }

  @Test func `an object is no value, however it describes itself`() throws {
    try tracker("#tap:#...", properties: "\"b\": \"viewController.button\"")
      .record(.tap, from: app.button)
    #expect(recorder.events.count == 1)
    #expect(recorder.events[0].eventProperties?["b"] == nil)
  }

  @Test func `a chain that runs in a circle ends`() throws {
    let (a, b) = (FakeView(), FakeView())
    a.add(b)
    b.add(a)
    try tracker("#tap:#...").record(.tap, from: a)
    #expect(recorder.events.count == 1)
    // Or the two would keep each other.
    a.removeAll()
  }
}
