import Foundation
import TestSupport
import Testing

/// A publisher process with a folder of its own. It is killed when the object goes.
final class TestPublisher {
  let data: String
  private let folder: TemporaryFolder
  private let arguments: [String]
  private var process: ChildProcess

  init(_ name: String, _ url: String, _ broker: TestBroker, _ options: [String] = []) throws {
    folder = try TemporaryFolder()
    data = folder.file("data")
    arguments =
      [
        name, "--bus", broker.bus, "--data", data, "--endpoint", url, "--metrics", "127.0.0.1:0",
      ] + options
    process = try ChildProcess(Program.path, arguments, environment: Self.credentials)
    try waitUntilReady()
  }

  /// What the pretended providers ask for.
  private static let credentials = [
    "EVENTBUS_WRITE_KEY": "test-key", "EVENTBUS_USERNAME": "user", "EVENTBUS_SECRET": "secret",
    "EVENTBUS_PROJECT_ID": "1", "EVENTBUS_GAME_KEY": "5c6bcb5402204249437fb5a7a80a4959",
    "EVENTBUS_SECRET_KEY": "16813a12f718bc5c620f56944e1abc3ea13ccbac",
  ]

  var errors: String { process.errorOutput.text }

  /// Resident memory in KiB.
  var memory: Int { process.residentKiB }

  /// Whether it says such a thing on standard error, now or in time.
  func waitForError(_ matches: (String) -> Bool) -> Bool {
    process.errorOutput.waitForLine(where: matches) != nil
  }

  func start() throws {
    process = try ChildProcess(Program.path, arguments, environment: Self.credentials)
    try waitUntilReady()
  }

  func kill() {
    process.signal(SIGKILL)
    process.wait()
  }

  func stop() -> ChildProcess.Status {
    process.signal(SIGTERM)
    return process.wait()
  }

  private func waitUntilReady() throws {
    let line = process.output.waitForLine { $0.hasPrefix("ready ") }
    try #require(line != nil, "\(process.errorOutput.text)")
  }
}

extension ChildProcess {
  /// Resident memory in KiB; 0 when the process is gone.
  var residentKiB: Int {
    let status = (try? String(contentsOfFile: "/proc/\(id)/status", encoding: .utf8)) ?? ""
    let line = status.split(separator: "\n").first { $0.hasPrefix("VmRSS:") }
    return line?.split(separator: " ").compactMap { Int($0) }.first ?? 0
  }
}
