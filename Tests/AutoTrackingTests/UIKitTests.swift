import EventModel
import TestSupport
import Testing

@testable import AutoTracking

/// Tests of what stands for UIKit. Its conformances and hooks are type-checked, and nothing more can be
/// claimed for them here; all that they call is tested over a pretended tree.
@Suite(.timeLimit(.minutes(5)))
struct UIKitTests {
  @Test func `S3.5 the UIKit conformance type-checks against a stand-in for UIKit`() throws {
    let standIns = try StandIns("ObjectiveC", "UIKit")
    #expect(try standIns.errors(inModule: "AutoTracking") == "")
    try standIns.make("AutoTracking")
    #expect(try standIns.errors(inFile: "Tests/StandIns/Samples/TrackedApp.swift") == "")
  }

  private final class View {}

  @MainActor
  @Test func `what an app says of a view goes with the view`() {
    let attributes = TrackedAttributes()
    let view = View()
    attributes[view].parameters = [.init("url", "a")]
    attributes[view].privacy = .masked
    #expect(attributes[view].parameters == [.init("url", "a")])
    #expect(attributes[View()].isEmpty)
    for _ in 0..<1000 { attributes[View()].privacy = .excluded }
    #expect(attributes.count <= 65)
    #expect(attributes[view].privacy == .masked)
    attributes[view] = TrackedAttributes.Attributes()
    #expect(attributes[view].isEmpty)
  }
}
