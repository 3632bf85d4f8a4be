import Foundation
import Primitives
import TestSupport
import Testing

/// The built `eventbus`, which lies beside the test bundle.
enum Program {
  static let path = URL(fileURLWithPath: CommandLine.arguments[0])
    .deletingLastPathComponent().appendingPathComponent("eventbus").path

  /// How a run ended, and what it said.
  struct Run {
    var status: ChildProcess.Status
    var output: String
    var errors: String

    var lines: [String] { output.split(separator: "\n").map(String.init) }
    var errorLines: [String] { errors.split(separator: "\n").map(String.init) }

    /// The events of `--format ndjson`.
    func events() throws -> [JSONValue] { try lines.map { try JSONValue(text: $0) } }
  }

  static func run(
    _ arguments: [String], input: String = "", limit: Duration = .seconds(30)
  ) throws -> Run {
    try run(arguments, input: Array(input.utf8), limit: limit)
  }

  static func run(
    _ arguments: [String], input: [UInt8], limit: Duration = .seconds(30)
  ) throws -> Run {
    let (status, output, errors) = try ChildProcess.run(
      path, arguments, input: input, limit: limit)
    return Run(
      status: status, output: String(decoding: output, as: UTF8.self),
      errors: String(decoding: errors, as: UTF8.self))
  }

  /// A shell line in which `$EVENTBUS` is the program.
  static func shell(_ line: String, environment: [String: String] = [:]) throws -> ChildProcess {
    try ChildProcess(
      "/bin/sh", ["-c", line],
      environment: environment.merging(["EVENTBUS": path]) { given, _ in given })
  }
}
