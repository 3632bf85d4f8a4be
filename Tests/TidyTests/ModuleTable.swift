/// The targets of Package.swift and what each may import, read from the manifest's text.
///
/// Reads its two forms, `Module(name: "X", uses: ["A", "B"])` and
/// `.target(name: "X", dependencies: ["A"])`; a line of the form `// 2` opens a layer.
struct ModuleTable {
  struct Row {
    var name: String
    /// Those on Linux alone included.
    var uses: [String] = []
    var usesOnLinux: [String] = []
    var testsUse: [String] = []
    var path: String?
    /// Nil for what stands in no layer: C modules and the executable.
    var layer: Int?
  }

  private(set) var rows: [Row] = []

  init(manifest: String) {
    var layer: Int?
    var list: WritableKeyPath<Row, [String]>?
    for line in manifest.split(separator: "\n") {
      let text = line.trimmingPrefix(while: \.isWhitespace)
      if text.hasPrefix("//"), let number = Int(text.dropFirst(3)) { layer = number }
      // The table ends here; what follows stands above all layers.
      if text.hasPrefix("var targets") { layer = nil }
      read(text, layer: layer, list: &list)
    }
  }

  subscript(_ name: String) -> Row? { rows.first { $0.name == name } }

  /// The row whose sources stand in a folder of `Sources` or `Tests`.
  func row(ofFolder folder: String) -> Row? {
    self[folder] ?? rows.first { $0.path?.split(separator: "/").last == Substring(folder) }
  }

  /// Takes one line, quoted word by quoted word; the label before a word says what it is.
  private mutating func read(
    _ line: Substring, layer: Int?, list: inout WritableKeyPath<Row, [String]>?
  ) {
    let parts = line.split(separator: "\"", omittingEmptySubsequences: false)
    for (index, part) in parts.enumerated() {
      guard index.isMultiple(of: 2) else {
        if let list, let last = rows.indices.last {
          rows[last][keyPath: list].append(String(part))
          if list == \.usesOnLinux { rows[last].uses.append(String(part)) }
        }
        continue
      }
      if part.contains("]") { list = nil }
      let next = index + 1 < parts.count ? String(parts[index + 1]) : nil
      if part.hasSuffix("name: "), let next { rows.append(Row(name: next, layer: layer)) }
      if part.hasSuffix("path: "), let next, let last = rows.indices.last { rows[last].path = next }
      if part.contains("uses: [") || part.contains("dependencies: [") { list = \.uses }
      if part.contains("usesOnLinux: [") { list = \.usesOnLinux }
      if part.contains("testsUse: [") { list = \.testsUse }
    }
  }
}
