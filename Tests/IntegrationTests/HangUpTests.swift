import Foundation
import TestSupport
import Testing

extension IntegrationTests {
  /// What runs when its terminal is gone.
  @Suite struct HangUpTests {
    @Test func `a command ends when its terminal is gone`() throws {
      let broker = try TestBroker()
      let tail = try ChildProcess(Program.path, ["tail", "--bus", broker.bus, "--ready"])
      try #require(tail.errorOutput.waitForLine { $0.hasPrefix("ready ") } != nil)
      tail.signal(SIGHUP)
      #expect(tail.wait(.seconds(20)) == .exited(129))
    }

    @Test func `under nohup it goes on`() throws {
      let broker = try TestBroker()
      let tail = try Program.shell(
        "trap '' HUP; exec $EVENTBUS tail --bus \(broker.bus) --ready --count 1")
      try #require(tail.errorOutput.waitForLine { $0.hasPrefix("ready ") } != nil)
      tail.signal(SIGHUP)
      #expect(try broker.publish(["--event", "A"]).status == .exited(0))
      #expect(tail.wait(.seconds(20)) == .exited(0))
    }

    @Test func `a service goes on`() throws {
      let broker = try TestBroker()
      broker.process.signal(SIGHUP)
      #expect(try broker.publish(["--event", "A"]).status == .exited(0))
      broker.process.signal(SIGTERM)
      #expect(broker.process.wait(.seconds(20)) == .exited(0))
    }
  }
}
