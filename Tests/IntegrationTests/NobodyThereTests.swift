import Foundation
import Primitives
import TestSupport
import Testing

extension IntegrationTests {
  /// Publishing where nothing listens.
  @Suite struct NobodyThereTests {
    private static let lines =
      (0..<9).map { EventLine.track("Game", id: "B11-\($0)") }.joined(separator: "\n") + "\n"

    @Test func `publishing to nobody ends by itself and says how much was not sent`() throws {
      let port = try FreePorts.base()
      let run = try Program.run(
        ["publish", "--bus", "tcp://127.0.0.1:\(port)", "-"], input: Self.lines,
        limit: .seconds(15))
      #expect(run.status == .exited(69))
      #expect(run.errors.contains("9 events were not sent"), "\(run.errors)")
    }

    @Test func `a signal ends it sooner and it still says so`() throws {
      let port = try FreePorts.base()
      let folder = try TemporaryFolder()
      let file = folder.file("nine.ndjson")
      try Self.lines.write(toFile: file, atomically: true, encoding: .utf8)
      let publish = try ChildProcess(
        Program.path, ["publish", "--bus", "tcp://127.0.0.1:\(port)", file])
      // It has its sockets when it has their threads.
      let tasks = "/proc/\(publish.id)/task"
      #expect(
        waitUntil { (try? FileManager.default.contentsOfDirectory(atPath: tasks).count) ?? 0 > 3 })
      publish.signal(SIGTERM)
      #expect(publish.wait(.seconds(5)) == .exited(143))
      let errors = String(decoding: publish.errorOutput.waitForEnd(), as: UTF8.self)
      #expect(errors.contains("9 events were not sent"), "\(errors)")
    }

    /// One of each service.
    private static func start(_ bus: String, _ folder: TemporaryFolder) throws -> [ChildProcess] {
      try [
        ["archiver", "--dir", folder.file("archive")], ["aggregator"], ["collector"],
        ["webhook", "--endpoint", "http://127.0.0.1:9/"],
      ].map {
        try ChildProcess(
          Program.path,
          $0 + ["--data", folder.file("data"), "--bus", bus, "--port-base", "0"])
      }
    }

    @Test func `every service that waits for its bus says so in the same words`() throws {
      let folder = try TemporaryFolder()
      let bus = "tcp://127.0.0.1:\(try FreePorts.base())"
      let services = try Self.start(bus, folder)
      defer { services.forEach { $0.signal(SIGKILL) } }
      for service in services {
        let told = service.errorOutput.waitForLine(.seconds(60)) {
          $0.contains("the bus at \(bus) does not answer")
        }
        #expect(told != nil, "\(service.errorOutput.text)")
      }
    }

    @Test func `a bus that goes and comes back is told once each, in log, status and metrics`()
      throws
    {
      let broker = try TestBroker(portBase: try FreePorts.base())
      let folder = try TemporaryFolder()
      let services = try Self.start(broker.bus, folder)
      defer { services.forEach { $0.signal(SIGKILL) } }
      let addresses = try services.map { service in
        let line = service.output.waitForLine(.seconds(60)) { $0.hasPrefix("ready ") }
        let metrics = line?.components(separatedBy: "metrics=").last?.split(separator: " ").first
        return try #require(metrics, "\(service.errorOutput.text)").removingPercentEncoding ?? ""
      }
      func get(_ address: String, _ path: String) throws -> String {
        let (_, output, _) = try ChildProcess.run("curl", ["-s", address + path])
        return String(decoding: output, as: UTF8.self)
      }
      func check(_ state: String, _ words: String) throws {
        for (service, address) in zip(services, addresses) {
          let told = service.errorOutput.waitForLine(.seconds(60)) { $0.contains(words) }
          #expect(told != nil, "\(service.errorOutput.text)")
          #expect(
            try waitUntil(.seconds(30)) {
              let bus = try JSONValue(text: try get(address, "/status"))["bus"]
              return bus?["state"]?.text == state
                && (bus?["trouble"]?.text?.contains(words) ?? false) == (state == "absent")
            })
          let lines = try get(address, "/metrics").split(separator: "\n")
          #expect(lines.contains { $0.contains("bus_state{") && $0.hasSuffix("\(state)\"} 1") })
        }
      }
      broker.kill()
      try check("absent", "the bus at \(broker.bus) does not answer")
      try broker.start()
      try check("connected", "the bus at \(broker.bus) answers now")
      for service in services {
        let lines = service.errorOutput.lines.filter { $0.contains("the bus at") }
        #expect(lines.count == 2, "\(lines)")
      }
    }
  }
}
