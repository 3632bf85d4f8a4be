import Foundation

/// Files of a test's own.
enum Files {
  static func read(_ path: String) throws -> [UInt8] {
    Array(try Data(contentsOf: URL(fileURLWithPath: path)))
  }

  /// Makes the folders above it where they are not there.
  static func write(_ bytes: [UInt8], to path: String) throws {
    let url = URL(fileURLWithPath: path)
    try FileManager.default.createDirectory(
      at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
    try Data(bytes).write(to: url)
  }

  static func remove(_ path: String) throws { try FileManager.default.removeItem(atPath: path) }

  static func move(_ from: String, to: String) throws {
    try FileManager.default.moveItem(atPath: from, toPath: to)
  }

  /// All files below a folder, with their paths from it.
  static func list(_ folder: String) throws -> [String] {
    try FileManager.default.subpathsOfDirectory(atPath: folder).sorted()
  }
}
