import Foundation

/// The README of the repository this test was compiled from, and the guides it leads to.
struct Readme {
  struct Block {
    /// What stands behind the fence: `python`, `swift`, `sh`; empty for pictures.
    var language: String
    var code: String
  }

  let lines: [Substring]
  let blocks: [Block]

  /// By their paths in the repository.
  static func pages() throws -> [String] {
    let guides = root.appending(path: "Deploy/Guide").path
    return try ["README.md"]
      + FileManager.default.contentsOfDirectory(atPath: guides).sorted().map {
        "Deploy/Guide/\($0)"
      }
  }

  init() throws {
    self.init(text: try Self.pages().map(Self.text(of:)).joined())
  }

  static func text(of page: String) throws -> String {
    try String(contentsOf: root.appending(path: page), encoding: .utf8)
  }

  init(text: String) {
    var blocks: [Block] = []
    var open: Block?
    lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    for line in lines {
      if line.hasPrefix("```") {
        if let block = open {
          blocks.append(block)
          open = nil
        } else {
          open = Block(language: String(line.dropFirst(3)), code: "")
        }
      } else {
        open?.code += line + "\n"
      }
    }
    self.blocks = blocks
  }

  func code(in language: String) -> [String] {
    blocks.filter { $0.language == language }.map(\.code)
  }

  /// What stands between backticks in a line.
  var codeWords: [Substring] {
    lines.flatMap { line in
      line.split(separator: "`", omittingEmptySubsequences: false).enumerated()
        .filter { !$0.offset.isMultiple(of: 2) }.map(\.element)
    }
  }

  /// The files under Sources, and Package.swift, by their paths in the repository.
  static func sourceFiles() throws -> [String] {
    let sources = root.appending(path: "Sources").path
    return try FileManager.default.subpathsOfDirectory(atPath: sources).map { "Sources/\($0)" }
      + ["/Package.swift"]
  }

  private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
  static let root = folder.deletingLastPathComponent().deletingLastPathComponent()

  /// The snippets that this target compiles.
  static func compiledSnippets(_ name: String = "Snippets") throws -> Set<String> {
    let snippets = folder.appending(path: name)
    let names = try FileManager.default.contentsOfDirectory(atPath: snippets.path)
    return Set(
      try names.filter { $0.hasSuffix(".swift") }
        .map { try String(contentsOf: snippets.appending(path: $0), encoding: .utf8) })
  }
}
