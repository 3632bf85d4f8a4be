import Foundation
import Primitives
import TestSupport
import Testing

extension IntegrationTests {
  /// Whoever asks twice means it.
  @Suite struct SecondSignalTests {
    @Test(arguments: [SIGINT, SIGTERM])
    func `the first signal waits for the broker, the second ends it at once`(
      _ number: Int32
    ) throws {
      let broker = try TestBroker()
      let publish = try ChildProcess(
        Program.path, ["publish", "--bus", broker.bus, "--timeout", "60s", "-"])
      try publish.write(EventLine.track("Step", id: "first") + "\n")
      #expect(waitUntil { (try? broker.stored().count) == 1 })
      broker.process.signal(SIGSTOP)
      try publish.write(EventLine.track("Step", id: "second") + "\n")
      // By the time its heartbeats have found the broker silent it has read the line.
      let told = publish.errorOutput.waitForLine(.seconds(60)) { $0.contains("does not answer") }
      #expect(told != nil, "\(publish.errorOutput.text)")
      publish.signal(number)
      #expect(waitUntil { !hasPendingSignal(publish) })
      #expect(publish.ended() == nil, "it waits for the acknowledgement")
      publish.signal(number)
      #expect(publish.wait(.seconds(5)) == .exited(128 + number))
      broker.process.signal(SIGCONT)
    }

    /// Two signals of one kind are one until the first was taken.
    private func hasPendingSignal(_ process: ChildProcess) -> Bool {
      let path = "/proc/\(process.id)/status"
      let status = (try? String(contentsOfFile: path, encoding: .utf8)) ?? ""
      return status.split(separator: "\n").contains { line in
        line.hasPrefix("ShdPnd:") && line.dropFirst(7).contains { "123456789abcdef".contains($0) }
      }
    }
  }
}
