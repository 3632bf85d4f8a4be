import Foundation
import Primitives
import TestSupport
import Testing

extension IntegrationTests {
  /// Subscribers that come late, are slow or go away, and a broker that does.
  @Suite struct AwayTests {
    @Test func `who is ready misses nothing of what is published at once`() throws {
      let thousand = EventLine.load(0..<1000)
      for round in 0..<20 {
        let broker = try TestBroker()
        let tail = try broker.tail(["--count", "1000"])
        #expect(try broker.publish(input: thousand).status == .exited(0))
        #expect(tail.wait() == .exited(0), "round \(round)")
        let lines = String(decoding: tail.output.waitForEnd(), as: UTF8.self)
          .split(separator: "\n")
        #expect(lines.count == 1000)
        #expect(lines.first?.contains(EventLine.loadID(0)) == true)
        #expect(lines.last?.contains(EventLine.loadID(999)) == true)
      }
    }

    @Test func `a slow reader gets everything and holds up nobody`() throws {
      let broker = try TestBroker()
      let folder = try TemporaryFolder()
      let counted = folder.file("counted")
      // Reads 20 lines, then waits 20 ms: a millisecond an event.
      let reader = """
        import sys, time
        count = 0
        for line in sys.stdin:
            count += 1
            if count < 5000 and count % 20 == 0: time.sleep(0.02)
        print(count)
        """
      let slow = try Program.shell(
        "$EVENTBUS tail --bus \(broker.bus) --format ndjson --ready --count 100000 "
          + "| python3 -c \"$READER\" > \(counted)", environment: ["READER": reader])
      try #require(slow.errorOutput.waitForLine { $0.hasPrefix("ready ") } != nil)
      let fast = try broker.tail(["--count", "100000"])
      let file = folder.file("load.ndjson")
      try EventLine.load(0..<100_000).write(toFile: file, atomically: true, encoding: .utf8)
      let run = try broker.publish([file])
      #expect(run.status == .exited(0), "\(run.errors)")
      #expect(fast.wait(.seconds(30)) == .exited(0))
      #expect(slow.wait(.seconds(60)) == .exited(0), "\(slow.errorOutput.text)")
      #expect(try String(contentsOfFile: counted, encoding: .utf8) == "100000\n")
    }

    @Test func `a subscriber outlives ten brokers`() throws {
      let broker = try TestBroker(portBase: try FreePorts.base())
      let tail = try broker.tail(["--exact", "Game Started"])
      for round in 1...10 {
        broker.kill()
        try broker.start()
        let lines = (0..<100).map { EventLine.track("Game Started", id: "B07-\(round)-\($0)") }
        let run = try broker.publish(lines: lines)
        #expect(run.status == .exited(0), "\(run.errors)")
        #expect(
          tail.output.waitForLine { $0.contains("\"B07-\(round)-99\"") } != nil, "round \(round)")
      }
      let ids = try tail.output.lines.map { try JSONValue(text: $0) }.messageIDs
      #expect(ids == (1...10).flatMap { round in (0..<100).map { "B07-\(round)-\($0)" } })
    }

    @Test func `events flow again soon after a broker that was silent goes on`() throws {
      let broker = try TestBroker()
      let tail = try broker.tail()
      #expect(
        try broker.publish(lines: [EventLine.track("Step", id: "before")]).status == .exited(0))
      #expect(tail.output.waitForLine { $0.contains("\"before\"") } != nil)
      broker.process.signal(SIGSTOP)
      let told = tail.errorOutput.waitForLine(.seconds(60)) { $0.contains("does not answer") }
      #expect(told != nil, "it says that the bus is silent")
      // Events published into the silence are not lost either.
      let waiting = try ChildProcess(
        Program.path,
        ["publish", "--bus", broker.bus, "--event", "Step", "--user", "during", "--timeout", "60s"])
      broker.process.signal(SIGCONT)
      #expect(waiting.wait(.seconds(30)) == .exited(0), "\(waiting.errorOutput.text)")
      let run = try broker.publish(lines: [EventLine.track("Step", id: "after")])
      #expect(run.status == .exited(0), "\(run.errors)")
      #expect(tail.output.waitForLine(.seconds(30)) { $0.contains("\"after\"") } != nil)
      let ids = try tail.output.lines.map { try JSONValue(text: $0) }.messageIDs
      #expect(ids.count == 3, "\(ids)")
    }

    @Test func `an hour on the clock loses nothing for who was away`() throws {
      guard let later = FakeTime.hourOn else { return }
      let broker = try TestBroker(portBase: try FreePorts.base())
      let name = ["--name", "traveller"]
      let first = try broker.tail(name)
      #expect(
        try broker.publish(lines: [EventLine.track("Step", id: "first")]).status == .exited(0))
      #expect(first.output.waitForLine { $0.contains("\"first\"") } != nil)
      first.signal(SIGTERM)
      #expect(first.wait() == .exited(143))
      #expect(try broker.publish(input: EventLine.load(0..<5000)).status == .exited(0))
      broker.kill()
      try broker.start(fakeTime: later)
      // The broker's clock really is an hour on: what it takes now is stamped so.
      #expect(
        try broker.publish(lines: [EventLine.track("Step", id: "last")]).status == .exited(0))
      let status = try Program.run(["status", "--json", "--bus", broker.bus])
      guard case .list(let names)? = try JSONValue(text: status.output)["names"] else {
        Issue.record("no names in \(status.output)")
        return
      }
      let times = names.compactMap { $0["lastTime"]?.text.flatMap { Timestamp(text: $0) } }
      #expect(times.map(\.nanoseconds).max() ?? 0 > SystemClock.realtime() + 3_000_000_000_000)
      let tail = try later.start(
        ["tail", "--bus", broker.bus, "--until-end", "--template", "{messageId}"] + name)
      #expect(tail.wait() == .exited(0), "\(tail.errorOutput.text)")
      let output = String(decoding: tail.output.waitForEnd(), as: UTF8.self)
      let ids = output.split(separator: "\n").map(String.init)
      #expect(ids == (0..<5000).map { EventLine.loadID($0) } + ["last"])
      #expect(try broker.stored(name).isEmpty)
    }

    @Test func `a named subscriber that was away gets all of it once`() throws {
      let broker = try TestBroker()
      let name = ["--name", "traveller"]
      let first = try broker.tail(name)
      #expect(
        try broker.publish(lines: [EventLine.track("Step", id: "first")]).status == .exited(0))
      #expect(first.output.waitForLine { $0.contains("\"first\"") } != nil)
      first.signal(SIGTERM)
      #expect(first.wait() == .exited(143))
      let folder = try TemporaryFolder()
      let file = folder.file("load.ndjson")
      try EventLine.load(0..<100_000).write(toFile: file, atomically: true, encoding: .utf8)
      #expect(try broker.publish([file]).status == .exited(0))
      let second = try broker.tail(name + ["--count", "100000", "--template", "{messageId}"])
      #expect(second.wait(.seconds(60)) == .exited(0), "\(second.errorOutput.text)")
      let text = String(decoding: second.output.waitForEnd(), as: UTF8.self)
      let ids = text.components(separatedBy: "\n").dropLast()
      #expect(ids.elementsEqual((0..<100_000).map { EventLine.loadID($0) }))
    }
  }
}
