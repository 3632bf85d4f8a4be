import Foundation
import Primitives
import TestSupport
import Testing

/// A publisher process of the built program. It is killed when the object goes.
final class PublisherProcess {
  let data: String
  private(set) var process: ChildProcess
  private let arguments: [String]
  private let environment: [String: String]
  private var metrics: UInt16 = 0

  /// - Parameter wait: until it says that it is ready.
  init(
    _ command: String = "segment", bus: String, data: String, endpoint: String,
    _ options: [String] = [], environment: [String: String] = ["EVENTBUS_WRITE_KEY": "test-key"],
    wait: Bool = true
  ) throws {
    self.data = data
    self.environment = environment
    arguments =
      [
        command, "--bus", bus, "--data", data, "--endpoint", endpoint, "--metrics", "127.0.0.1:0",
      ] + options
    process = try ChildProcess(Program.path, arguments, environment: environment)
    if wait { try waitUntilReady() }
  }

  private func waitUntilReady() throws {
    let line = try #require(
      process.output.waitForLine { $0.hasPrefix("ready ") }, "\(process.errorOutput.text)")
    metrics = try #require(line.split(separator: ":").last.flatMap { UInt16($0) })
  }

  func start() throws {
    process = try ChildProcess(Program.path, arguments, environment: environment)
    try waitUntilReady()
  }

  func stop() -> ChildProcess.Status {
    process.signal(SIGTERM)
    return process.wait()
  }

  var log: String { process.errorOutput.text }

  /// What it says of itself.
  func status() throws -> JSONValue { try JSONValue(text: try get("/status")) }

  func get(_ path: String) throws -> String {
    let client = try TestClient(port: metrics)
    try client.send("GET \(path) HTTP/1.1\r\nHost: localhost\r\n\r\n")
    return try client.receive().body
  }

  func state() throws -> String { try status()["state"]?.text ?? "" }

  /// Waits until everything published before is settled and stored.
  func isSettled(_ head: Int, _ limit: Duration = .seconds(30)) throws -> Bool {
    try waitUntil(limit) { try status()["ledger"]?["cursor"]?.int == head }
  }

  func deadLetters(_ words: [String], destination: String = "segment", input: String = "")
    throws -> Program.Run
  {
    try Program.run(
      ["deadletters"] + words + ["--destination", destination, "--data", data], input: input)
  }

  /// The dead letters whole.
  func letters(destination: String = "segment") throws -> [JSONValue] {
    try deadLetters(["list", "--json"], destination: destination).events()
  }
}
