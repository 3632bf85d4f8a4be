import Foundation
import Testing

/// Tests of the rules a formatter does not know. A violation names its file and line.
@Suite struct StyleTests {
  let tree: SourceTree

  init() throws {
    tree = try SourceTree.load()
    // A tree that was not found must not pass for one without violations.
    try #require(tree.files.contains { $0.path == "Tests/TidyTests/StyleTests.swift" })
    try #require(tree.libraryFiles.contains { $0.path == "Sources/Primitives/Bytes.swift" })
  }

  @Test func `a file has at most 500 lines`() {
    let found = tree.files.violations { _, line in
      line.number == 501 ? "split it by concern: a file has at most 500 lines" : nil
    }
    expectNone(found)
  }

  @Test(arguments: [
    ("try!", "handle the error or pass it on"),
    ("fatalError(", "trap with precondition for our faults, throw for the world's"),
    (" print(", "log, or return the text: only the executable writes"),
  ])
  func `libraries neither crash on the world nor print`(_ ban: (word: String, instead: String)) {
    let found = tree.libraryFiles.violations { _, line in
      " \(line.code)".contains(ban.word) ? "\(ban.word): \(ban.instead)" : nil
    }
    expectNone(found)
  }

  @Test func `libraries do not import Foundation`() {
    // The first bridges to NotificationCenter and the second to Date, for programs that have Foundation
    // anyway; the third is URLSession, which is compiled on Apple's systems alone.
    let bridges = [
      "Sources/EventObservation/EventType+Notification.swift", "Sources/Analytics/Dates.swift",
      "Sources/Analytics/Transport/URLSessionTransport.swift",
    ]
    let files = tree.libraryFiles.filter { !bridges.contains($0.path) }
    let found = files.violations { _, line in
      let module = LayerTests.importedModule(line.code)
      return module?.hasPrefix("Foundation") == true ? "it doubles the memory of a service" : nil
    }
    expectNone(found)
  }

  @Test func `no test sleeps`() {
    // TestSupport looks at child processes each millisecond, with a deadline: waitpid has none.
    // SignalTests paces the signals that a thread sends; nothing waits for that thread.
    let files = tree.testFiles.filter {
      $0.folder != "TestSupport" && $0.path != "Tests/BusTransportTests/SignalTests.swift"
    }
    let found = files.violations { _, line in
      let isSleep = ["Task.sleep", "usleep(", "sleep("].contains { line.code.contains($0) }
      return isSleep ? "wait for the fact itself, or move a clock" : nil
    }
    expectNone(found)
  }

  @Test func `an unchecked Sendable says what makes it true`() {
    let found = tree.files.violations { file, line in
      guard line.code.contains("@unchecked Sendable") else { return nil }
      let near = file.lines[max(0, line.number - 4)..<min(file.lines.count, line.number + 3)]
      let isExplained = near.contains {
        $0.text.trimmingPrefix(while: \.isWhitespace).hasPrefix("// ")
      }
      return isExplained ? nil : "say within three lines which lock or thread makes it true"
    }
    expectNone(found)
  }

  @Test func `the top of the repository holds nothing else`() throws {
    let allowed: Set = ["Package.swift", "Sources", "Tests", "Deploy", "README.md"]
    let names = try FileManager.default.contentsOfDirectory(atPath: tree.root.path)
    let found = names.filter { !$0.hasPrefix(".") && !allowed.contains($0) }
    expectNone(found.map { "\($0): belongs below one of \(allowed.sorted())" })
  }

  @Test(arguments: [
    ("let a = 1  // try!", "let a = 1  "),
    ("say(\"try! // \\\" this\") + b", "say(\"\") + b"),
    ("/// print(", ""),
  ])
  func `comments and literals are not code`(_ line: (text: String, code: String)) {
    var isInText = false
    #expect(SourceFile.code(of: line.text[...], isInText: &isInText) == line.code)
  }

  @Test func `a literal of several lines is not code`() {
    let file = SourceFile(
      path: "Sources/A/B.swift", text: "let a = \"\"\"\n  try!\n  \"\"\"\nb()\n")
    #expect(file.lines.map(\.code) == ["let a = \"\"\"", "", "\"\"\"", "b()"])
  }

  private func expectNone(_ found: [String], at place: SourceLocation = #_sourceLocation) {
    #expect(found.isEmpty, "\(found.joined(separator: "\n"))", sourceLocation: place)
  }
}
