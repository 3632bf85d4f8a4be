internal import Foundation
internal import Primitives

/// Type-checks what stands inside `#if canImport(...)` against declarations of the same shape, which
/// `Tests/StandIns` has. That is all it is: nothing of it is run.
public struct StandIns {
  /// What files for Apple's frameworks need where there is no Objective-C.
  private static let interoperability = [
    "-Xfrontend", "-enable-objc-interop",
    "-Xfrontend", "-disable-objc-attr-requires-foundation-module",
  ]

  /// As the package compiles itself, warnings being errors.
  private static let settings =
    ["-warnings-as-errors", "-strict-memory-safety"]
    + [
      "ExistentialAny", "InternalImportsByDefault", "MemberImportVisibility",
      "NonisolatedNonsendingByDefault", "InferIsolatedConformances", "ImmutableWeakCaptures",
    ].flatMap { ["-enable-upcoming-feature", $0] }

  private let folder: TemporaryFolder
  private let root = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

  /// Makes the stand-ins of these modules, each of which may use those before it.
  public init(_ modules: String...) throws {
    folder = try TemporaryFolder()
    let header = root.appending(path: "Sources/CPlatform/include/CPlatform.h").path
    try "module CPlatform { header \"\(header)\" export * }"
      .write(toFile: folder.file("CPlatform.modulemap"), atomically: true, encoding: .utf8)
    for module in modules {
      try make(module, from: "Tests/StandIns/\(module)", [])
    }
  }

  /// Compiles a module of ours, for the files that use it.
  public func make(_ module: String) throws {
    try make(module, from: "Sources/\(module)", Self.settings)
  }

  /// What the compiler says of a module of ours; nothing is good.
  public func errors(inModule module: String) throws -> String {
    try run(["-typecheck", "-module-name", module] + Self.settings + files("Sources/\(module)"))
  }

  /// What the compiler says of one file of a program.
  public func errors(inFile path: String) throws -> String {
    try run(
      ["-typecheck", "-module-name", "Sample", "-warnings-as-errors"]
        + [root.appending(path: path).path])
  }

  public struct Failure: Error { public var said: String }

  private func make(_ module: String, from path: String, _ settings: [String]) throws {
    // Thunks to Objective-C cannot be made here, so bodies are left out.
    let said = try run(
      [
        "-emit-module", "-module-name", module, "-o", folder.file("\(module).swiftmodule"),
        "-Xfrontend", "-experimental-skip-all-function-bodies",
      ] + settings + files(path))
    guard said.isEmpty else { throw Failure(said: said) }
  }

  private func run(_ arguments: [String]) throws -> String {
    let compiler = try ChildProcess(
      "swiftc",
      ["-swift-version", "6", "-parse-as-library", "-I", folder.path, "-I", Self.modules]
        + Self.interoperability + moduleMaps + arguments)
    let status = compiler.wait(.seconds(240))
    let said = String(decoding: compiler.errorOutput.waitForEnd(), as: UTF8.self)
    return status == .exited(0) ? said : "\(status)\n\(said)"
  }

  /// Where the modules of this build are.
  private static var modules: String {
    let folder = Bundle.main.bundleURL
    for place in [folder, folder.deletingLastPathComponent()] {
      let modules = place.appending(path: "Modules").path
      if FileManager.default.fileExists(atPath: modules) { return modules }
    }
    return folder.path
  }

  /// Those of C modules that ours import.
  private var moduleMaps: [String] {
    let maps =
      ["CSQLite", "CZlib", "CCurl"].map {
        root.appending(path: "Sources/\($0)/module.modulemap").path
      } + [folder.file("CPlatform.modulemap")]
    return maps.flatMap { ["-Xcc", "-fmodule-map-file=\($0)"] }
  }

  private func files(_ path: String) throws -> [String] {
    let folder = root.appending(path: path).path
    return try FileManager.default.subpathsOfDirectory(atPath: folder)
      .filter { $0.hasSuffix(".swift") }.sorted().map { "\(folder)/\($0)" }
  }
}
