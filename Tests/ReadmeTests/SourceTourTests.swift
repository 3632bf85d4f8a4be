import Testing

/// README and guides lead readers to files: they must be there.
struct SourceTourTests {
  @Test func `the files that README and guides name exist`() throws {
    let files = try Readme.sourceFiles()
    let named = try Readme().codeWords.filter { $0.hasSuffix(".swift") }
    #expect(named.count > 15)
    for name in named {
      #expect(files.contains { $0.hasSuffix("/\(name)") || $0 == name }, "\(name)")
    }
  }
}
