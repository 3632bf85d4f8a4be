import Foundation
import Primitives
import TestSupport
import Testing

extension IntegrationTests {
  /// What `up` does when a service cannot run, and where its neighbours look for it.
  @Suite struct UpFailureTests {
    @Test func `a publisher that cannot start does not stop the bus`() throws {
      let folder = try TemporaryFolder()
      let base = try FreePorts.base()
      // A region that there is not: wrong usage, whatever is done about it.
      let up = try ChildProcess(
        Program.path, ["up", "--data", folder.file("data"), "--port-base", "\(base)"],
        environment: ["EVENTBUS_SEGMENT_WRITE_KEY": "key", "EVENTBUS_SEGMENT_REGION": "nowhere"])
      let ready = up.output.waitForLine { $0.hasPrefix("ready broker.bus=") }
      try #require(ready != nil, "\(up.errorOutput.text)")
      #expect(
        up.errorOutput.waitForLine {
          $0.contains("stays ended") && $0.contains("name=segment")
        } != nil)
      let published = try Program.run([
        "publish", "--event", "Still Here", "--bus", "tcp://127.0.0.1:\(base)",
      ])
      #expect(published.status == .exited(0), "\(published.errors)")
      up.signal(SIGTERM)
      #expect(up.wait() == .exited(0), "\(up.errorOutput.text)")
    }

    @Test func `a directory that another broker has ends up at once with its own code`() throws {
      let broker = try TestBroker()
      let base = try FreePorts.base()
      let up = try Program.run(
        ["up", "--data", broker.folder.file("data"), "--port-base", "\(base)"], limit: .seconds(20))
      #expect(up.status == .exited(73))
      #expect(up.errors.contains("in use by another broker"), "\(up.errors)")
    }

    /// The bus's own port, and the one of the broker's metrics.
    @Test(arguments: [0, 4])
    func `a port that somebody has ends up at once, and says who has it`(_ distance: Int) throws {
      let base = try FreePorts.base()
      let broker = try TestBroker(portBase: base)
      let up = try Program.run(
        ["up", "--data", broker.folder.file("other"), "--port-base", "\(base - distance)"],
        limit: .seconds(30))
      #expect(up.status == .exited(1))
      #expect(
        (base..<base + 5).contains { up.errors.contains("\($0)") } && up.errors.contains("in use")
          && up.errors.contains("process \(broker.process.id) (eventbus broker) has it"),
        "\(up.errors)")
      #expect(
        up.errors.contains("giving up") && !up.errors.contains("service died"), "\(up.errors)")
    }

    @Test func `one variable moves services and all that ask them`() throws {
      let folder = try TemporaryFolder()
      let base = try FreePorts.base()
      let environment = ["EVENTBUS_PORT_BASE": "\(base)"]
      let up = try ChildProcess(
        Program.path, ["up", "--data", folder.file("data")], environment: environment)
      try #require(
        up.output.waitForLine { $0.hasPrefix("ready broker.bus=") } != nil,
        "\(up.errorOutput.text)")
      func run(_ line: String) throws -> ChildProcess.Status {
        try Program.shell("$EVENTBUS " + line + " > /dev/null", environment: environment).wait()
      }
      #expect(try run("publish --event Moved") == .exited(0))
      #expect(try run("status") == .exited(0))
      #expect(try run("report") == .exited(0))
      #expect(try run("tail --since earliest --count 1") == .exited(0))
      #expect(try run("doctor --data \(folder.file("data"))") == .exited(0))
      up.signal(SIGTERM)
      #expect(up.wait() == .exited(0), "\(up.errorOutput.text)")
    }

    @Test(
      arguments: ["foo", "70000", "-1"], ["status", "tail", "publish --event A", "up", "broker"])
    func `a base that is no port is told by its variable`(_ value: String, _ line: String) throws {
      let command = try ChildProcess(
        Program.path, line.split(separator: " ").map(String.init),
        environment: ["EVENTBUS_PORT_BASE": value])
      #expect(command.wait() == .exited(2))
      let errors = String(decoding: command.errorOutput.waitForEnd(), as: UTF8.self)
      let told = errors.split(separator: "\n")
      #expect(
        told.count == 1 && told.first?.contains("EVENTBUS_PORT_BASE") == true
          && told.first?.contains(value) == true, "\(told)")
    }
  }
}
