import Testing

/// Tests that modules import what Package.swift's table allows, and nothing beside or above them.
@Suite struct LayerTests {
  @Test func `each import of a module of ours is in the manifest's row`() throws {
    let tree = try SourceTree.load()
    let table = try tree.manifest()
    try #require(table["BusBroker"]?.uses.contains("EventJournal") == true)
    let found = tree.files.violations { file, line in
      guard let name = Self.importedModule(line.code), table[name] != nil else { return nil }
      let allowed = Self.allowedImports(of: file, in: table)
      return allowed.contains(name) ? nil : "\(file.folder) may not import \(name)"
    }
    #expect(found.isEmpty, "\(found.joined(separator: "\n"))")
  }

  @Test func `modules of one layer do not use each other and uses point down`() throws {
    let table = try SourceTree.load().manifest()
    let layered = table.rows.filter { $0.layer != nil }
    try #require(layered.count > 10)
    for row in layered {
      for use in row.uses {
        guard let layer = row.layer, let lower = table[use]?.layer else { continue }
        #expect(lower < layer, "\(row.name) in layer \(layer) uses \(use) of layer \(lower)")
      }
    }
  }

  /// What the manifest gives a file's target; a test target gets what its module does, and more.
  static func allowedImports(of file: SourceFile, in table: ModuleTable) -> Set<String> {
    if let row = table.row(ofFolder: file.folder) { return Set(row.uses) }
    // Programs that tests type-check: they are of no target, and use what apps do.
    if file.folder == "StandIns" { return ["Analytics", "AnalyticsUI", "AutoTracking"] }
    let module = String(file.folder.dropLast("Tests".count))
    guard file.folder.hasSuffix("Tests"), let row = table[module] else { return [] }
    return Set([module, "TestSupport"] + row.uses + row.testsUse)
  }

  /// The module of an import declaration: `public import struct X.Y` gives `X`.
  static func importedModule(_ code: String) -> String? {
    guard code.contains("import ") else { return nil }
    let words = code.split(separator: " ")
    guard let keyword = words.firstIndex(of: "import"), keyword + 1 < words.count else {
      return nil
    }
    let modifiers = ["public", "internal", "package", "private", "fileprivate"]
    let isImport = words[..<keyword].allSatisfy {
      $0.hasPrefix("@") || modifiers.contains(String($0))
    }
    guard isImport, let path = words.last else { return nil }
    return path.split(separator: ".").first.map(String.init)
  }

  @Test(arguments: [
    ("import Testing", "Testing"),
    ("@testable import DropFour", "DropFour"),
    ("  public import Foundation", "Foundation"),
    ("internal import struct Primitives.Timestamp", "Primitives"),
    ("@preconcurrency internal import Glibc", "Glibc"),
    ("let import = 1", nil),
  ])
  func `an import is read with its modifiers`(_ line: (code: String, module: String?)) {
    #expect(Self.importedModule(line.code) == line.module)
  }

  @Test func `both forms of the manifest are read`() {
    let table = ModuleTable(
      manifest: """
        let modules = [
          // 0
          Module(name: "A", uses: ["CA"]),
          // 1
          Module(
            name: "B",
            uses: [
              "A", "CB",
            ],
            testsUse: ["D"]),
        ]
        var targets = [
          .executableTarget(
            name: "tool", dependencies: ["A", "B"], path: "Sources/tool-cli")
        ]
        """)
    #expect(table.rows.map(\.name) == ["A", "B", "tool"])
    #expect(table.rows.map(\.uses) == [["CA"], ["A", "CB"], ["A", "B"]])
    #expect(table.rows.map(\.layer) == [0, 1, nil])
    #expect(table["B"]?.testsUse == ["D"])
    #expect(table.row(ofFolder: "tool-cli")?.name == "tool")
  }
}
