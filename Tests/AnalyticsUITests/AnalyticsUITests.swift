import Foundation
import TestSupport
import Testing

/// Tests that the SwiftUI layer type-checks (S0.5, S1.4, S1.5). What it does on a device nobody has seen
/// here; what it stands on (triggers, groups, dispatch) is tested with Analytics.
@Suite(.timeLimit(.minutes(5)))
struct AnalyticsUITests {
  @Test func `S0.5 S1.4 S1.5 the SwiftUI layer type-checks against a stand-in for SwiftUI`() throws
  {
    let standIns = try StandIns("UniformTypeIdentifiers", "SwiftUI")
    #expect(try standIns.errors(inModule: "AnalyticsUI") == "")
    try standIns.make("AnalyticsUI")
    // Every form of `track` as views use them; the environment; the flush at the background.
    #expect(try standIns.errors(inFile: "Tests/StandIns/Samples/FeedScreen.swift") == "")
    // And the check can fail.
    #expect(try standIns.errors(inFile: "Tests/StandIns/Samples/WrongScreen.swift") != "")
  }

  @Test func `the screen in the documentation is the one that is type-checked`() throws {
    let root = URL(fileURLWithPath: #filePath)
      .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    func text(_ path: String) throws -> String {
      try String(contentsOf: root.appending(path: path), encoding: .utf8)
    }
    let article = try text("Sources/AnalyticsUI/AnalyticsUI.docc/AnalyticsUI.md")
    let sample = try text("Tests/StandIns/Samples/FeedScreen.swift")
    let blocks = article.components(separatedBy: "```swift\n").dropFirst()
      .compactMap { $0.components(separatedBy: "```").first }
    #expect(blocks.count == 3)
    for block in blocks { #expect(sample.contains(block), "not type-checked:\n\(block)") }
  }
}
