import Foundation

/// One line of a source file.
struct SourceLine: Sendable {
  /// From 1.
  var number: Int
  var text: String
  /// The text without comments and without what string literals hold, so that a rule sees only
  /// what the compiler runs.
  var code: String
}

struct SourceFile: Sendable {
  /// Below the repository: `Sources/Primitives/Bytes.swift`.
  var path: String
  var lines: [SourceLine]

  init(path: String, text: String) {
    self.path = path
    var isInText = false
    var texts = text.split(separator: "\n", omittingEmptySubsequences: false)
    if texts.last?.isEmpty == true { texts.removeLast() }
    lines = texts.enumerated().map { index, line in
      SourceLine(
        number: index + 1, text: String(line), code: Self.code(of: line, isInText: &isInText))
    }
  }

  /// The folder below `Sources` or `Tests`: the target's name, but for the executable.
  var folder: String { String(path.split(separator: "/")[1]) }

  /// Leaves `"…"` of each string literal only its quotes; `isInText` is carried over the lines of
  /// a literal of three quotes. Raw literals and nested interpolations are read as plain text.
  static func code(of line: Substring, isInText: inout Bool) -> String {
    let quote = UInt8(ascii: "\"")
    let slash = UInt8(ascii: "/")
    let bytes = Array(line.utf8)
    // Most lines have neither a quote nor a slash and are code as they are.
    guard bytes.contains(quote) || bytes.contains(slash) else {
      return isInText ? "" : String(line)
    }
    var code: [UInt8] = []
    var at = 0
    while at < bytes.count {
      let rest = bytes[at...]
      if rest.starts(with: [quote, quote, quote]) {
        isInText.toggle()
        code += [quote, quote, quote]
        at += 3
      } else if isInText {
        at += 1
      } else if rest.starts(with: [slash, slash]) {
        break
      } else if bytes[at] == quote {
        code += [quote, quote]
        at = endOfLiteral(bytes, from: at + 1)
      } else {
        code.append(bytes[at])
        at += 1
      }
    }
    return String(decoding: code, as: UTF8.self)
  }

  private static func endOfLiteral(_ bytes: [UInt8], from start: Int) -> Int {
    var at = start
    while at < bytes.count, bytes[at] != UInt8(ascii: "\"") {
      at += bytes[at] == UInt8(ascii: "\\") ? 2 : 1
    }
    return at + 1
  }
}

/// The repository this test was compiled from.
struct SourceTree: Sendable {
  /// Read once for all tests: a second's work.
  private static let loaded = Result { try SourceTree() }

  static func load() throws -> SourceTree { try loaded.get() }

  let root: URL
  let files: [SourceFile]

  private init() throws {
    root = URL(fileURLWithPath: #filePath)
      .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    var files: [SourceFile] = []
    for top in ["Sources", "Tests"] {
      let folder = root.appending(path: top)
      let names = try FileManager.default.subpathsOfDirectory(atPath: folder.path).sorted()
      for name in names where name.hasSuffix(".swift") {
        let text = try String(contentsOf: folder.appending(path: name), encoding: .utf8)
        files.append(SourceFile(path: "\(top)/\(name)", text: text))
      }
    }
    self.files = files
  }

  /// Sources other than the executable's: what others build on.
  var libraryFiles: [SourceFile] {
    files.filter { $0.path.hasPrefix("Sources/") && $0.folder != "eventbus-cli" }
  }

  var testFiles: [SourceFile] { files.filter { $0.path.hasPrefix("Tests/") } }

  func manifest() throws -> ModuleTable {
    let url = root.appending(path: "Package.swift")
    return ModuleTable(manifest: try String(contentsOf: url, encoding: .utf8))
  }
}

extension Collection<SourceFile> {
  /// `file:line: reason` of each line for which a rule gives a reason.
  func violations(_ reason: (SourceFile, SourceLine) -> String?) -> [String] {
    flatMap { file in
      file.lines.compactMap { line in
        reason(file, line).map { "\(file.path):\(line.number): \($0)" }
      }
    }
  }
}
