import Foundation
import Primitives
import TestSupport
import Testing

/// An archiver process over a broker's events. It is killed when the object goes.
final class TestArchiver {
  let directory: String
  private(set) var process: ChildProcess
  private(set) var metrics = ""
  private let arguments: [String]

  /// It rolls its files at once, so that a test need not wait for what it archived.
  init(_ broker: TestBroker, directory: String? = nil, _ options: [String] = []) throws {
    self.directory = directory ?? broker.folder.file("archive")
    arguments =
      [
        "archiver", "--bus", broker.bus, "--dir", self.directory, "--metrics", "127.0.0.1:0",
      ] + (options.contains("--roll-age") ? [] : ["--roll-age", "200ms"]) + options
    process = try ChildProcess(Program.path, arguments)
    try readReady()
  }

  func kill() {
    process.signal(SIGKILL)
    process.wait()
  }

  func stop() -> ChildProcess.Status {
    process.signal(SIGTERM)
    return process.wait()
  }

  /// Starts it again, and waits until it is ready.
  func start() throws {
    process = try ChildProcess(Program.path, arguments)
    try readReady()
  }

  /// Starts it again, for who kills it before it may be ready.
  func startOnly() throws { process = try ChildProcess(Program.path, arguments) }

  private func readReady() throws {
    let line = try #require(
      process.output.waitForLine { $0.hasPrefix("ready ") }, "\(process.errorOutput.text)")
    #expect(line.removingPercentEncoding?.contains("dir=\(directory)") == true)
    metrics = line.components(separatedBy: "metrics=").last ?? ""
  }

  /// What `/status` says.
  func status() throws -> JSONValue {
    let (_, output, _) = try ChildProcess.run("curl", ["-s", metrics + "/status"])
    return try JSONValue(text: String(decoding: output, as: UTF8.self))
  }

  /// The status code of `/readyz`.
  func readiness() throws -> String {
    let (_, output, _) = try ChildProcess.run(
      "curl", ["-s", "-o", "/dev/null", "-w", "%{http_code}", metrics + "/readyz"])
    return String(decoding: output, as: UTF8.self)
  }

  /// Waits until the archive's cursor is at `offset` or behind it: nothing below is missing any more.
  func waitForCursor(_ offset: Int, _ limit: Duration = .seconds(60)) -> Bool {
    waitUntil(limit) {
      let status = try? status()
      let isEmpty = status?["part"] == .null
      return isEmpty && (status?["cursor"]?["offset"]?.int ?? 0) >= offset
    }
  }

  /// All events in the archive, read from the files themselves.
  func events() throws -> [JSONValue] {
    let (status, output, errors) = try ChildProcess.run(
      "/bin/sh",
      ["-c", "find \(directory) -name 'part-*.ndjson.zst' | sort -V | xargs cat | zstd -dcq"],
      limit: .seconds(60))
    try #require(status == .exited(0), "\(String(decoding: errors, as: UTF8.self))")
    return try String(decoding: output, as: UTF8.self).split(separator: "\n")
      .map { try JSONValue(text: String($0)) }
  }

  /// The `messageId`s in the files, without decoding the lines.
  func messageIDs() throws -> [Substring] {
    let (_, output, _) = try ChildProcess.run(
      "/bin/sh",
      [
        "-c",
        "find \(directory) -name 'part-*.ndjson.zst' | sort -V | xargs cat | zstd -dcq "
          + "| grep -o '\"messageId\":\"[^\"]*'",
      ], limit: .seconds(120))
    return String(decoding: output, as: UTF8.self).split(separator: "\n")
      .map { $0.dropFirst(13) }
  }
}
