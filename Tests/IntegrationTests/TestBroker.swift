import Foundation
import Primitives
import TestSupport
import Testing

/// A broker process with a folder of its own. It is killed when the object goes.
final class TestBroker {
  let folder: TemporaryFolder
  private(set) var process: ChildProcess
  private(set) var addresses: [String: String] = [:]
  private let arguments: [String]

  /// With a `portBase` it can be started again where its subscribers look for it.
  ///
  /// - Parameter openFiles: as many as it may have open, connections included.
  init(portBase: Int = 0, _ options: [String] = [], openFiles: Int? = nil) throws {
    folder = try TemporaryFolder()
    arguments =
      ["broker", "--data", folder.file("data"), "--port-base", "\(portBase)"] + options
    if let openFiles {
      let shell = "ulimit -n \(openFiles); exec \"$0\" \"$@\""
      process = try ChildProcess("/bin/sh", ["-c", shell, Program.path] + arguments)
    } else {
      process = try ChildProcess(Program.path, arguments)
    }
    try readAddresses()
  }

  var bus: String { addresses["bus"] ?? "" }

  func port(_ key: String) throws -> Int {
    try #require(addresses[key]?.split(separator: ":").last.flatMap { Int($0) })
  }

  /// Ends it as a power cut does, as far as the process can tell.
  func kill() {
    process.signal(SIGKILL)
    process.wait()
  }

  func start(fakeTime: FakeTime? = nil) throws {
    process = try fakeTime?.start(arguments) ?? ChildProcess(Program.path, arguments)
    try readAddresses()
  }

  func publish(
    _ arguments: [String] = ["-"], input: String = "", limit: Duration = .seconds(90)
  ) throws -> Program.Run {
    try Program.run(["publish", "--bus", bus] + arguments, input: input, limit: limit)
  }

  func publish(lines: [String], limit: Duration = .seconds(60)) throws -> Program.Run {
    try publish(input: lines.map { $0 + "\n" }.joined(), limit: limit)
  }

  /// Everything in the journal, or what `arguments` select of it.
  func stored(_ arguments: [String] = []) throws -> [JSONValue] {
    let run = try Program.run(
      ["tail", "--bus", bus, "--since", "earliest", "--until-end", "--format", "ndjson"]
        + arguments)
    try #require(run.status == .exited(0), "\(run.errors)")
    return try run.events()
  }

  /// A `tail` that can miss nothing from now on.
  func tail(_ arguments: [String] = []) throws -> ChildProcess {
    let tail = try ChildProcess(
      Program.path,
      ["tail", "--bus", bus, "--ready"]
        + (arguments.contains("--template") ? [] : ["--format", "ndjson"]) + arguments)
    try #require(
      tail.errorOutput.waitForLine { $0.hasPrefix("ready head=") } != nil,
      "\(tail.errorOutput.text)")
    return tail
  }

  /// It is the same process, and takes an event.
  func isUp() throws -> Bool {
    let run = try publish(["--event", "Still There"])
    return run.status == .exited(0)
  }

  var openFiles: Int {
    (try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(process.id)/fd").count) ?? -1
  }

  /// Files of its journal.
  var segments: Int {
    let names = try? FileManager.default.contentsOfDirectory(atPath: folder.file("data"))
    return names?.count { $0.hasSuffix(".segment") } ?? 0
  }

  func metric(_ line: String) throws -> Int? {
    let metrics = try #require(addresses["metrics"]?.split(separator: ":").last)
    let client = try TestClient(port: try #require(UInt16(metrics)))
    try client.send("GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n")
    let found = try client.receive().body.split(separator: "\n").first { $0.hasPrefix(line + " ") }
    return found?.split(separator: " ").last.flatMap { Int($0) }
  }

  /// Resident memory in KiB.
  var memory: Int {
    let status = (try? String(contentsOfFile: "/proc/\(process.id)/status", encoding: .utf8)) ?? ""
    let line = status.split(separator: "\n").first { $0.hasPrefix("VmRSS:") }
    return line?.split(separator: " ").compactMap { Int($0) }.first ?? 0
  }

  private func readAddresses() throws {
    let line = try #require(
      process.output.waitForLine { $0.hasPrefix("ready ") },
      "\(String(decoding: process.errorOutput.waitForEnd(.seconds(1)), as: UTF8.self))")
    for word in line.split(separator: " ").dropFirst() {
      let parts = word.split(separator: "=", maxSplits: 1)
      if parts.count == 2 { addresses[String(parts[0])] = parts[1].removingPercentEncoding }
    }
  }
}
