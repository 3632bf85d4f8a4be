import Foundation
import TestSupport
import Testing

extension IntegrationTests {
  /// Where a broker can be found.
  @Suite struct AddressTests {
    private static let hosts =
      ["localhost", "127.0.0.1"] + (hasVersion6 ? ["::1", "[::1]"] : [])

    /// Containers are often without.
    private static var hasVersion6: Bool {
      let addresses = try? String(contentsOfFile: "/proc/net/if_inet6", encoding: .utf8)
      return addresses?.contains("00000000000000000000000000000001 ") == true
    }

    @Test(arguments: hosts)
    func `a broker is found at the address that it says`(host: String) throws {
      let broker = try TestBroker(["--bind", host])
      #expect(broker.bus.contains(host.contains("::1") ? "[::1]" : "127.0.0.1"))
      let live = try ChildProcess(
        Program.path, ["tail", "--bus", broker.bus, "--live", "--ready", "--count", "1"])
      try #require(live.errorOutput.waitForLine { $0 == "ready" } != nil)
      #expect(try broker.publish(["--event", "There"]).status == .exited(0))
      #expect(live.wait() == .exited(0))
      #expect(try broker.stored().count == 1)
    }
  }
}
