import Foundation

/// One line of a source file.
struct SourceLine {
  /// From 1.
  var number: Int
  var text: String
  /// The text without comments and without what string literals hold, so that a rule sees only
  /// what the compiler runs.
  var code: String
}

struct SourceFile {
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
    var code = ""
    var rest = line
    while let character = rest.first {
      if rest.hasPrefix("\"\"\"") {
        isInText.toggle()
        code += "\"\"\""
        rest = rest.dropFirst(3)
      } else if isInText {
        rest = rest.dropFirst()
      } else if rest.hasPrefix("//") {
        break
      } else if character == "\"" {
        code += "\"\""
        rest = afterLiteral(rest.dropFirst())
      } else {
        code.append(character)
        rest = rest.dropFirst()
      }
    }
    return code
  }

  private static func afterLiteral(_ text: Substring) -> Substring {
    var rest = text
    while let character = rest.first, character != "\"" {
      rest = rest.dropFirst(character == "\\" ? 2 : 1)
    }
    return rest.dropFirst()
  }
}

/// The repository this test was compiled from.
struct SourceTree {
  let root: URL
  let files: [SourceFile]

  init() throws {
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
