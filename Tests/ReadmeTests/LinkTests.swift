import Foundation
import Testing

/// The README leads to guides and these to each other: nothing leads nowhere.
struct LinkTests {
  @Test(arguments: try Readme.pages() + ["Deploy/Runbook.md", "Deploy/ThreatModel.md"])
  func `what a page links to is there`(page: String) throws {
    let folder = Readme.root.appending(path: page).deletingLastPathComponent()
    for match in try Readme.text(of: page).matches(of: /\]\(([^)#:]+)\)/) {
      let target = folder.appending(path: String(match.1)).standardizedFileURL.path
      #expect(FileManager.default.fileExists(atPath: target), "\(match.1)")
    }
  }

  @Test func `the README leads to every guide`() throws {
    let readme = try Readme.text(of: "README.md")
    for page in try Readme.pages().dropFirst() { #expect(readme.contains("](\(page))"), "\(page)") }
  }
}
