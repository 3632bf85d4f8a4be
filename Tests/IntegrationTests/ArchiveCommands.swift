import Foundation
import Primitives
import TestSupport
import Testing

/// The commands over an archive, and what its files hold.
extension TestArchiver {
  func run(
    _ command: String, _ broker: TestBroker, _ arguments: [String] = [],
    limit: Duration = .seconds(60)
  ) throws -> Program.Run {
    try Program.run(
      ["archive", command, "--dir", directory, "--bus", broker.bus] + arguments, limit: limit)
  }

  /// How many events a query finds.
  func count(_ arguments: [String] = []) throws -> Int {
    let run = try Program.run(["archive", "query", "--dir", directory, "--count"] + arguments)
    try #require(run.status == .exited(0), "\(run.errors)")
    return try run.lines.first.flatMap { try JSONValue(text: $0)["count"]?.int } ?? 0
  }

  /// All lines in the files, not decoded.
  func lines() throws -> [Substring] {
    let (status, output, _) = try ChildProcess.run(
      "/bin/sh",
      ["-c", "find \(directory) -name 'part-*.ndjson.zst' | sort -V | xargs cat | zstd -dcq"],
      limit: .seconds(60))
    try #require(status == .exited(0))
    return String(decoding: output, as: UTF8.self).split(separator: "\n")
  }

  /// Files that hold a text, packed or not.
  func files(holding text: String) throws -> [String] {
    let script = """
      find \(directory) -type f | while read -r file; do
        case "$file" in *.zst) zstd -dcq "$file" ;; *) cat "$file" ;; esac \
          | grep -aqF -- '\(text)' && echo "$file"
      done
      """
    let (_, output, _) = try ChildProcess.run("/bin/sh", ["-c", script], limit: .seconds(60))
    return String(decoding: output, as: UTF8.self).split(separator: "\n").map(String.init)
  }
}

extension TestBroker {
  /// Makes a name known that begins behind everything that is there.
  func subscribe(_ name: String) throws {
    let run = try Program.run(
      ["tail", "--bus", bus, "--name", name, "--since", "latest", "--count", "0"])
    try #require(run.status == .exited(0), "\(run.errors)")
  }

  /// What a name has not read yet, as text.
  func read(_ name: String) throws -> [String] {
    let run = try Program.run(
      ["tail", "--bus", bus, "--name", name, "--until-end", "--format", "ndjson"],
      limit: .seconds(60))
    try #require(run.status == .exited(0), "\(run.errors)")
    return run.lines
  }

  /// The journal's next offset.
  func head() throws -> Int {
    let run = try Program.run(["status", "--bus", bus, "--json"])
    return try JSONValue(text: run.output)["head"]?.int ?? -1
  }
}

extension Program.Run {
  /// The summary of `--json`.
  func summary(_ key: String) throws -> Int? { try JSONValue(text: output)[key]?.int }
}
