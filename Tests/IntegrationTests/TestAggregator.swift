import Foundation
import TestSupport
import Testing

/// An aggregator process on a broker, in a folder of its own. It is killed when the object goes.
final class TestAggregator {
  let folder: TemporaryFolder
  private(set) var process: ChildProcess
  private(set) var url = ""
  private let arguments: [String]

  /// - Parameter data: of another process, to see what it keeps there.
  init(
    _ bus: String, reports: String? = nil, data: String? = nil, _ options: [String] = []
  ) throws {
    folder = try TemporaryFolder()
    var arguments = [
      "aggregator", "--bus", bus, "--port-base", "0", "--data", data ?? folder.file("data"),
    ]
    if let reports {
      try reports.write(toFile: folder.file("reports.json"), atomically: true, encoding: .utf8)
      arguments += ["--reports", folder.file("reports.json")]
    }
    self.arguments = arguments + options
    process = try ChildProcess(Program.path, self.arguments)
    try readAddress()
  }

  func kill() {
    process.signal(SIGKILL)
    process.wait()
  }

  func start() throws {
    process = try ChildProcess(Program.path, arguments)
    try readAddress()
  }

  func write(reports: String) throws {
    try reports.write(toFile: folder.file("reports.json"), atomically: true, encoding: .utf8)
  }

  func run(_ arguments: [String]) throws -> Program.Run {
    try Program.run(["report", "--aggregator", url] + arguments)
  }

  /// The answer by command, in JSON read by Foundation.
  func report(_ name: String, _ arguments: [String] = []) throws -> JSONValue {
    let run = try run([name, "--format", "json", "--groups", "10000"] + arguments)
    try #require(run.status == .exited(0), "\(run.errors)\(process.errorOutput.text)")
    return try JSONValue(text: run.output)
  }

  /// Counts the archive again while it is stopped; every report must be the same. Returns how many events
  /// came from the archive.
  func recompute(
    _ archive: String, _ bus: String, _ options: [String] = []
  ) throws -> Int {
    let run = try Program.run(
      ["aggregator", "recompute", "--from-archive", archive, "--bus", bus, "--json", "--data"]
        + [folder.file("data"), "--reports", folder.file("reports.json")] + options)
    #expect(run.status == .exited(0), "\(run.output)\(run.errors)")
    let told = try JSONValue(text: run.output)
    let reports = told["reports"]?.list ?? []
    #expect(!reports.isEmpty && reports.allSatisfy { $0["same"] != .bool(false) })
    return told["archived"]?.int ?? -1
  }

  /// Its status once it has read and stored everything up to `offset`.
  func status(at offset: Int) throws -> JSONValue {
    var status = JSONValue.null
    let reached = try waitUntil(.seconds(60)) {
      status = try JSONValue(text: try get("/status"))
      return status["cursor"]?.int == offset
    }
    try #require(reached, "\(status) \(process.errorOutput.text)")
    return status
  }

  func get(_ path: String, _ headers: [String: String] = [:]) throws -> String {
    try response(path, headers).body
  }

  func response(
    _ path: String, _ headers: [String: String] = [:]
  ) throws -> (status: String, body: String) {
    let options = headers.flatMap { ["-H", "\($0.key): \($0.value)"] }
    let (_, output, _) = try ChildProcess.run(
      "curl", ["-s", "-w", "\n%{http_code}"] + options + [url + path])
    let text = String(decoding: output, as: UTF8.self)
    let end = text.lastIndex(of: "\n") ?? text.startIndex
    return (String(text[end...].dropFirst()), String(text[..<end]))
  }

  private func readAddress() throws {
    let line = try #require(
      process.output.waitForLine { $0.hasPrefix("ready ") }, "\(process.errorOutput.text)")
    let word = try #require(line.split(separator: " ").first { $0.hasPrefix("listen=") })
    url = String(word.dropFirst("listen=".count))
  }
}

extension JSONValue {
  var number: Double? {
    if case .number(let number) = self { (number as NSDecimalNumber).doubleValue } else { nil }
  }
  var list: [JSONValue] { if case .list(let values) = self { values } else { [] } }

  /// An element of a list; null where there is none.
  subscript(_ index: Int) -> JSONValue { list.indices.contains(index) ? list[index] : .null }

  /// Counts of a report by its only breakdown: `count`, or another measure.
  func counts(_ measure: String = "count") -> [String: Double] {
    var counts: [String: Double] = [:]
    for group in self["groups"]?.list ?? [] {
      let key = group["by"]?.list.first
      let name = key?.text ?? key?.int.map { "\($0)" } ?? "(other)"
      counts[name] = group[measure]?.number ?? group[measure]?["value"]?.number
    }
    return counts
  }

  /// A number of each window by its start.
  func series(_ measure: String = "count") -> [String: Double] {
    var series: [String: Double] = [:]
    for window in self["windows"]?.list ?? [] {
      let value = window["total"]?[measure]
      series[window["start"]?.text ?? ""] = value?.number ?? value?["value"]?.number
    }
    return series
  }
}
