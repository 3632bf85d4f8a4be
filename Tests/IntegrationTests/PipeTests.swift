import Foundation
import Primitives
import TestSupport
import Testing

extension IntegrationTests {
  /// `tail` between other programs.
  @Suite struct PipeTests {
    @Test(arguments: ["", "trap '' PIPE; "])
    func `head ends a busy tail without a word`(_ prefix: String) throws {
      let broker = try TestBroker()
      #expect(try broker.publish(input: EventLine.load(0..<20_000)).status == .exited(0))
      let shell = try Program.shell(
        prefix
          + "{ $EVENTBUS tail --bus \(broker.bus) --since earliest --format ndjson; echo $? >&3; } "
          + "3>&2 2>&1 | head -3")
      #expect(shell.wait() == .exited(0))
      let lines = String(decoding: shell.output.waitForEnd(), as: UTF8.self).split(separator: "\n")
      #expect(lines.count == 3)
      let code = shell.errorOutput.text.trimmingCharacters(in: .whitespacesAndNewlines)
      #expect(["0", "141"].contains(code), "\(code)")
    }

    @Test func `a tail on an idle bus notices that its reader has gone`() throws {
      let broker = try TestBroker()
      #expect(try broker.publish(input: EventLine.load(0..<3)).status == .exited(0))
      let shell = try Program.shell(
        "$EVENTBUS tail --bus \(broker.bus) --since earliest --format ndjson | head -3")
      #expect(shell.wait() == .exited(0))
      #expect(shell.errorOutput.waitForEnd().isEmpty, "\(shell.errorOutput.text)")
      #expect(shell.output.lines.count == 3)
    }

    @Test func `each line is through a pipe soon after it is acknowledged`() throws {
      let broker = try TestBroker()
      let shell = try Program.shell(
        "$EVENTBUS tail --bus \(broker.bus) --count 10 --format ndjson --ready | cat")
      try #require(shell.errorOutput.waitForLine { $0.hasPrefix("ready ") } != nil)
      var delays: [Int64] = []
      for number in 0..<10 {
        let run = try broker.publish(lines: [EventLine.track("Step", id: "T02-\(number)")])
        #expect(run.status == .exited(0))
        let start = SystemClock.monotonic()
        let line = shell.output.waitForLine { $0.contains("\"T02-\(number)\"") }
        #expect(line != nil)
        delays.append((SystemClock.monotonic() - start) / 1_000_000)
      }
      #expect(shell.wait() == .exited(0))
      // A machine that also builds may hold up one of them; a buffer holds up all.
      #expect(delays.filter { $0 > 200 }.count <= 1, "\(delays) ms")
    }

    /// Events a second of a machine that is shared with other tests; in release what is promised.
    #if DEBUG
      static let rate = 3000
    #else
      static let rate = 20_000
    #endif

    @Test func `a tail keeps up with a steady load`() throws {
      let broker = try TestBroker()
      let count = Self.rate * 3
      let tail = try broker.tail(["--count", "\(count)"])
      let run = try broker.publish(["--count", "\(count)", "--rate", "\(Self.rate)", "--json"])
      #expect(run.status == .exited(0), "\(run.errors)")
      let published = SystemClock.monotonic()
      #expect(tail.wait(.seconds(60)) == .exited(0))
      // The last line comes when the last event does, not after a backlog.
      let lag = (SystemClock.monotonic() - published) / 1_000_000
      #expect(lag < 3000, "\(lag) ms after the last acknowledgement")
    }
  }
}
