import Foundation
import TestSupport
import Testing

extension IntegrationTests {
  @Suite(.enabled(if: HostilePeer.isThere, "needs python3"))
  struct HostileRunTests {
    private static let script = URL(fileURLWithPath: #filePath)
      .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().appendingPathComponent("Deploy/hostile").path

    @Test func `a short run of hostile peers on every port leaves everybody served`() throws {
      let base = try FreePorts.base()
      let run = try ChildProcess.run(
        "/usr/bin/python3", [Self.script, "4"],
        environment: [
          "PROGRAM": Program.path, "PORT_BASE": "\(base)", "SEED": "1", "MEMORY": "2048",
        ],
        limit: .seconds(300))
      let output = String(decoding: run.output, as: UTF8.self)
      #expect(
        run.status == .exited(0), "\(output)\(String(decoding: run.errorOutput, as: UTF8.self))")
      #expect(output.contains("every event is accounted for"), "\(output)")
    }
  }
}
