import Foundation
import Primitives
import TestSupport
import Testing

extension IntegrationTests {
  /// All services under one command.
  @Suite struct UpTests {
    @Test func `the demo publishes, and one signal ends everything in order`() throws {
      let folder = try TemporaryFolder()
      let base = Int.random(in: 30_000..<32_000)
      let up = try ChildProcess(
        Program.path, ["up", "--demo", "--data", folder.file("data"), "--port-base", "\(base)"])
      let ready = up.output.waitForLine { $0.hasPrefix("ready broker.bus=") }
      try #require(ready != nil, "\(up.errorOutput.text)")
      let tail = try Program.run([
        "tail", "--bus", "tcp://127.0.0.1:\(base)", "--since", "earliest", "--count", "2",
        "--format", "ndjson",
      ])
      #expect(try tail.events().names.first == "Game Started")
      up.signal(SIGTERM)
      #expect(up.wait() == .exited(0), "\(up.errorOutput.text)")
    }
  }
}
