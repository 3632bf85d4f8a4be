import Foundation
import Primitives
import TestSupport
import Testing

/// A collector process before a broker. It is killed when the object goes.
final class TestCollector {
  let process: ChildProcess
  let port: UInt16
  let metricsPort: UInt16

  static let key = "test-key"
  /// The header that shows it.
  static let basic = "Authorization: Basic dGVzdC1rZXk6\r\n"

  init(bus: String, _ options: [String] = ["--write-key", key]) throws {
    process = try ChildProcess(
      Program.path,
      ["collector", "--bus", bus, "--metrics", "127.0.0.1:0"]
        + (options.contains("--listen") ? [] : ["--listen", "127.0.0.1:0"]) + options)
    let line = try #require(
      process.output.waitForLine { $0.hasPrefix("ready listen=") }, "\(process.errorOutput.text)")
    let ports = line.split(separator: " ").dropFirst().compactMap {
      $0.split(separator: ":").last.flatMap { UInt16($0) }
    }
    try #require(ports.count == 2)
    (port, metricsPort) = (ports[0], ports[1])
  }

  convenience init(_ broker: TestBroker, _ options: [String] = ["--write-key", key]) throws {
    try self.init(bus: broker.bus, options)
    try #require(waitUntil { try self.isReady() }, "\(process.errorOutput.text)")
  }

  var url: String { "http://127.0.0.1:\(port)" }

  func isReady() throws -> Bool {
    let client = try TestClient(port: metricsPort)
    try client.send("GET /readyz HTTP/1.1\r\nHost: t\r\n\r\n")
    return try client.receive().status == 200
  }

  /// A POST of a body, with the key unless other headers are given.
  static func request(_ path: String, _ body: [UInt8], headers: String = basic) -> [UInt8] {
    Array(
      "POST \(path) HTTP/1.1\r\nHost: t\r\nContent-Length: \(body.count)\r\n\(headers)\r\n".utf8)
      + body
  }

  func post(_ path: String, _ body: [UInt8], headers: String = basic) throws -> TestAnswer {
    let client = try TestClient(port: port)
    try client.send(Self.request(path, body, headers: headers))
    return try client.receive()
  }

  func post(_ path: String, _ body: String, headers: String = basic) throws -> TestAnswer {
    try post(path, Array(body.utf8), headers: headers)
  }

  /// A batch of whole events.
  func post(batch lines: [String]) throws -> TestAnswer {
    try post("/v1/batch", "{\"batch\":[\(lines.joined(separator: ","))]}")
  }

  var openFiles: Int {
    (try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(process.id)/fd").count) ?? -1
  }

  func metric(_ line: String) throws -> Int? {
    let client = try TestClient(port: metricsPort)
    try client.send("GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n")
    let found = try client.receive().body.split(separator: "\n").first { $0.hasPrefix(line + " ") }
    return found?.split(separator: " ").last.flatMap { Int($0) }
  }

  /// Ends it in order.
  func stop() -> ChildProcess.Status {
    process.signal(SIGTERM)
    return process.wait()
  }
}

extension TestAnswer {
  var json: JSONValue? { try? JSONValue(text: body) }

  /// The verdicts by index.
  var codes: [String] {
    guard case .list(let results)? = json?["results"] else { return [] }
    return results.map { $0["code"]?.text ?? "" }
  }
}
