import Testing

/// Each feature of the app's side has tests whose names begin with its id and state what it promises.
@Suite struct FeatureTests {
  @Test(arguments: [("S0", 1...5), ("S1", 1...8), ("S2", 1...5), ("S3", 1...8)])
  func `a feature of the app's side has a test named after what it promises`(
    _ source: String, _ numbers: ClosedRange<Int>
  ) throws {
    let names = try SourceTree.load().files.filter { $0.path.hasPrefix("Tests/") }
      .flatMap(\.lines).filter { $0.text.contains("func `") }
      .compactMap { $0.text.split(separator: "`").dropFirst().first }
    for number in numbers {
      let id = "\(source).\(number)"
      #expect(
        names.contains { $0.split(separator: " ").prefix { $0.hasPrefix("S") }.contains(id[...]) },
        "no test is named after \(id)")
    }
  }
}
