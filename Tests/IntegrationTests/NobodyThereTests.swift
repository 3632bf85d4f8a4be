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

    @Test(arguments: ["archiver", "aggregator"])
    func `a service that waits for its bus says so`(_ service: String) throws {
      let port = try FreePorts.base()
      let folder = try TemporaryFolder()
      let process = try ChildProcess(
        Program.path,
        [service, "--data", folder.path, "--bus", "tcp://127.0.0.1:\(port)", "--port-base", "0"])
      defer { process.signal(SIGKILL) }
      let line = process.errorOutput.waitForLine { $0.contains("no answer from the bus at") }
      #expect(line?.contains("\(port)") ?? false, "\(process.errorOutput.text)")
    }
  }
}
