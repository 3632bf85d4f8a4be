import EventModel
import Testing
import TrackingPlan

/// Tests of what a plan makes of a path (S3.4, S3.6, S3.8).
@Suite struct CollectionRulesTests {
  private static func path(_ text: String) throws -> EventPath { try EventPath(parsing: text) }

  private static func event(
    _ decision: CollectionRules.Decision
  ) -> (event: EventType, path: String)? {
    guard case .event(let entry, let path) = decision else { return nil }
    return (entry.event, path.text)
  }

  @Test func `S3.6 only the paths that the plan lists are reported`() throws {
    let rules = try SamplePlan.rules()
    let listed = try Self.path(
      "#buttonClick:#UIButton#UIButton[0]#CheckoutViewController#UIWindow[0]")
    #expect(Self.event(rules.decide(listed))?.event == "Order Placed")
    let other = try Self.path(
      "#buttonClick:#UIButton#UIButton[0]#ProfileViewController#UIWindow[0]")
    #expect(rules.decide(other) == .unmapped)
    #expect(CollectionRules(CollectionPlan()).decide(listed) == .unmapped)
  }

  @Test func `S3.8 many paths mean one event`() throws {
    let rules = try SamplePlan.rules()
    for text in [
      "#buttonClick:#UIButton#UIButton[0]#CheckoutViewController",
      "#buttonClick:#UIButton#UIButton[3]#UIStackView[1]#CheckoutViewController#UIWindow[0]",
    ] {
      #expect(Self.event(rules.decide(try Self.path(text)))?.event == "Order Placed")
    }
    let moved = try Self.path("#buttonClick:#PayButton#PayButton[0]#CartViewController#UIWindow[0]")
    let title = EventPath.State("currentTitle", "Pay now")
    #expect(Self.event(rules.decide(moved, texts: [title]))?.event == "Order Placed")
    #expect(rules.decide(moved, texts: [.init("currentTitle", "Cancel")]) == .unmapped)
  }

  @Test func `text enters an id only where the pattern asks for it`() throws {
    let rules = try SamplePlan.rules()
    let asked = try Self.path("#buttonClick:#PayButton#CartViewController")
    let title = EventPath.State("currentTitle", "Pay 12 euros")
    #expect(
      Self.event(rules.decide(asked, texts: [title]))?.path
        == "#buttonClick:#PayButton#CartViewController#currentTitle=Pay 12 euros")
    let silent = try Self.path("#buttonClick:#UIButton#CheckoutViewController#state=1")
    #expect(Self.event(rules.decide(silent, texts: [title]))?.path == silent.text)
  }

  @Test func `S3.4 a screen of the list and a control by its path are excluded`() throws {
    let rules = try SamplePlan.rules()
    #expect(
      rules.decide(try Self.path("#buttonClick:#UIButton#LoginViewController#UIWindow[0]"))
        == .excluded)
    #expect(
      rules.decide(try Self.path("#buttonClick:#UIButton#PinPad[2]#CheckoutViewController"))
        == .excluded)
  }

  @Test func `values of masked names leave the path`() throws {
    let rules = try SamplePlan.rules()
    let path = try Self.path(
      "#buttonClick:#UIButton#CheckoutViewController#amountDue=99#state=1#coupon=X1")
    #expect(
      Self.event(rules.decide(path))?.path
        == "#buttonClick:#UIButton#CheckoutViewController#state=1#coupon=X1")
  }

  @Test func `S3.8 a client that reports raw paths gets its events named where they come in`()
    throws
  {
    let rules = try SamplePlan.rules()
    let text =
      "#tap:#UITapGestureRecognizer#BannerView[2]#HomeViewController#url=https://a.example/"
    var byProperty = EventEnvelope(
      RawPaths.eventName,
      properties: PropertyObject([.init("$path", .string(text)), .init("place", 9)]))
    #expect(RawPaths.map(&byProperty, by: rules) == .mapped)
    #expect(byProperty.event == "Banner Tapped")
    #expect(byProperty.properties?["url"] == "https://a.example/")
    #expect(byProperty.properties?["place"] == 9)
    var byName = EventEnvelope(EventType(text))
    #expect(RawPaths.map(&byName, by: rules) == .mapped)
    #expect(byName.event == "Banner Tapped")
    #expect(byName.properties?["$path"] == .string(text))
    #expect(byName.properties?["place"] == 3)
    var other = EventEnvelope(
      "Level Done", properties: PropertyObject([.init("$path", .string(text))]))
    #expect(RawPaths.map(&other, by: rules) == .other)
    var excluded = EventEnvelope("#tap:#A#LoginViewController")
    #expect(
      RawPaths.map(&excluded, by: rules)
        == .excluded(try Self.path("#tap:#A#LoginViewController")))
  }

  @Test func `S3.8 unmapped paths are counted without their state and within a bound`() throws {
    var unmapped = UnmappedPaths(maximum: 2)
    for text in ["#a:#b#s=1", "#a:#b#s=2", "#a:#c", "#a:#d", "#a:#b"] {
      unmapped.add(try Self.path(text))
    }
    #expect(unmapped.most() == [.init(path: "#a:#b", count: 3), .init(path: "#a:#c", count: 1)])
    #expect(unmapped.most(1).count == 1)
    #expect(unmapped.total == 5)
    #expect(unmapped.others == 1)
    #expect(unmapped.distinct == 2)
  }
}
