import Foundation
import TestSupport
import Testing

extension IntegrationTests {
  /// Events are full of people: who else has an account on the machine does not read them.
  @Suite struct FileModeTests {
    @Test func `what the services write is for their user alone`() throws {
      let folder = try TemporaryFolder()
      let data = folder.file("data")
      let base = try FreePorts.base()
      let up = try Program.shell(
        "umask 022; exec $EVENTBUS up --data '\(data)' --port-base \(base)",
        environment: ["EVENTBUS_WEBHOOK_ENDPOINT": "http://127.0.0.1:9"])
      try #require(
        up.output.waitForLine { $0.hasPrefix("ready broker.bus=") } != nil,
        "\(up.errorOutput.text)")
      let published = try Program.run([
        "publish", "--event", "A", "--bus", "tcp://127.0.0.1:\(base)",
      ])
      #expect(published.status == .exited(0))
      up.signal(SIGTERM)
      #expect(up.wait() == .exited(0), "\(up.errorOutput.text)")
      let found = try FileManager.default.subpathsOfDirectory(atPath: data)
      #expect(found.contains("cursors.sqlite") && found.contains { $0.hasSuffix(".zst") })
      for name in [""] + found {
        let values = try FileManager.default.attributesOfItem(atPath: data + "/" + name)
        let mode = try #require(values[.posixPermissions] as? Int)
        #expect(mode & 0o077 == 0, "\(name) has mode \(String(mode, radix: 8))")
      }
    }

    @Test func `an umask that lets a group in stays, and doctor names a directory open to all`()
      throws
    {
      let folder = try TemporaryFolder()
      let data = folder.file("data")
      try FileManager.default.createDirectory(
        atPath: data, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o755])
      let broker = try Program.shell(
        "umask 027; exec $EVENTBUS broker --data '\(data)' --port-base 0 --metrics 127.0.0.1:0")
      let ready = try #require(broker.output.waitForLine { $0.hasPrefix("ready ") })
      let bus = try #require(
        ready.split(separator: " ").first { $0.hasPrefix("bus=") }?.dropFirst(4))
      let segments = try FileManager.default.contentsOfDirectory(atPath: data)
        .filter { $0.hasSuffix(".segment") }
      for name in segments {
        let values = try FileManager.default.attributesOfItem(atPath: data + "/" + name)
        #expect(values[.posixPermissions] as? Int == 0o640)
      }
      #expect(!segments.isEmpty)
      func doctor() throws -> String {
        try Program.run([
          "doctor", "--data", data, "--bus", String(bus), "--port-base", "0", "--timeout", "5s",
        ]).output
      }
      #expect(try doctor().contains("chmod o-rwx \(data)"))
      try FileManager.default.setAttributes([.posixPermissions: 0o750], ofItemAtPath: data)
      #expect(try !doctor().contains("chmod"))
      broker.signal(SIGTERM)
      #expect(broker.wait() == .exited(0))
    }
  }
}
