import Foundation
import TestSupport
import Testing

extension IntegrationTests {
  /// A bus's address with a host that nobody knows: by its empty label, without asking any name server.
  @Suite struct UnknownHostTests {
    private static let bus = "tcp://no..such-host.invalid:7400"
    private static let words = "unknown host 'no..such-host.invalid'"

    @Test(arguments: [
      ["status"], ["consumers", "list"], ["top"], ["tail"], ["tail", "--live"],
      ["publish", "--event", "A"], ["plan", "show"], ["bench", "--subscribers", "0"],
      ["segment", "--write-key", "k"],
    ])
    func `every command that ends without its bus names the host`(_ command: [String]) throws {
      let folder = try TemporaryFolder()
      let isService = command[0] == "segment"
      let run = try Program.run(
        command + ["--bus", Self.bus, "--timeout", "300ms"]
          + (isService ? ["--data", folder.file("data"), "--port-base", "0"] : []))
      #expect(run.status == .exited(69), "\(run.errors)")
      #expect(run.errorLines.last?.contains(Self.words) == true, "\(run.errors)")
    }

    @Test func `a report whose aggregator is at an unknown host is unreachable`() throws {
      let run = try Program.run(["report", "--aggregator", "http://no..such-host.invalid:7420"])
      #expect(run.status == .exited(69), "\(run.errors)")
      #expect(run.errors.contains("the name cannot be resolved"), "\(run.errors)")
      #expect(!run.errors.contains("running there?"), "\(run.errors)")
    }

    @Test func `doctor names it too and does not look for a port of this machine`() throws {
      let run = try Program.run(["doctor", "--bus", Self.bus, "--timeout", "300ms"])
      #expect(run.output.contains(Self.words), "\(run.output)")
      #expect(run.output.contains("make the name known"), "\(run.output)")
    }

    @Test func `a service that waits for its bus names the host in its log`() throws {
      let folder = try TemporaryFolder()
      let archiver = try ChildProcess(
        Program.path,
        ["archiver", "--dir", folder.file("a"), "--data", folder.file("d"), "--port-base", "0"]
          + ["--bus", Self.bus])
      let line = archiver.errorOutput.waitForLine(.seconds(30)) { $0.contains("does not answer") }
      #expect(line?.contains(Self.words) == true, "\(line ?? "")")
      archiver.signal(SIGTERM)
      #expect(archiver.wait(.seconds(20)) == .exited(0))
    }
  }
}
