import Testing

/// What apps import must build where only the system's own libraries are: on phones and Macs.
@Suite struct AppSideTests {
  /// Not part of Apple's systems.
  private static let foreign: Set = ["CZeroMQ", "CCurl", "CMicroHTTPD", "CZstd", "CSodium"]

  @Test(arguments: ["Analytics", "AnalyticsTestSupport", "AnalyticsUI", "AutoTracking"])
  func `an app-side product needs nothing that Apple's systems do not bring`(_ name: String) throws
  {
    let table = try SourceTree.load().manifest()
    let apple = Self.closure(of: name, in: table, onLinux: false)
    #expect(apple.isDisjoint(with: Self.foreign), "\(apple.intersection(Self.foreign))")
    #expect(apple.isSuperset(of: ["EventModel", "Primitives"]))
    // On Linux libcurl is in the place of URLSession, and nothing else is added.
    let linux = Self.closure(of: name, in: table, onLinux: true)
    #expect(linux.intersection(Self.foreign).isSubset(of: ["CCurl"]))
  }

  @Test func `the bus as a provider does need ZeroMQ`() throws {
    // So the closure is not empty by mistake.
    let table = try SourceTree.load().manifest()
    #expect(Self.closure(of: "AnalyticsBus", in: table, onLinux: false).contains("CZeroMQ"))
  }

  /// Everything that a target is built from, itself included.
  private static func closure(
    of name: String, in table: ModuleTable, onLinux: Bool
  ) -> Set<String> {
    var found: Set<String> = []
    var open = [name]
    while let next = open.popLast() {
      guard found.insert(next).inserted, let row = table[next] else { continue }
      open += onLinux ? row.uses : row.uses.filter { !row.usesOnLinux.contains($0) }
    }
    return found
  }
}
