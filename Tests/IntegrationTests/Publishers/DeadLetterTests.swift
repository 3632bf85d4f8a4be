import DestinationTestSupport
import Foundation
import Primitives
import TestSupport
import Testing

extension IntegrationTests {
  /// What destinations refused: kept, shown, mended, sent again; and the file that keeps it.
  @Suite struct DeadLetterTests {
    /// A publisher with two dead letters, 3 and 7 of ten events.
    private func publisherWithLetters(
      _ fake: FakeServer<FakeSegment>, _ broker: TestBroker
    ) throws -> PublisherProcess {
      let publisher = try PublisherProcess(
        bus: broker.bus, data: broker.folder.file("data"), endpoint: fake.url)
      fake.play([.badWhileHolding(EventLine.loadID(3))])
      #expect(try broker.publish(input: EventLine.load(0..<5)).status == .exited(0))
      #expect(try publisher.isSettled(5))
      fake.play([.badWhileHolding(EventLine.loadID(7))])
      #expect(try broker.publish(input: EventLine.load(5..<10)).status == .exited(0))
      #expect(try publisher.isSettled(10))
      #expect(try publisher.letters().count == 2)
      return publisher
    }

    @Test func `a condition selects, a dry run changes nothing, and redrive sends again`() throws {
      let fake = try FakeServer(FakeSegment())
      let broker = try TestBroker()
      let publisher = try publisherWithLetters(fake, broker)
      let some = ["--where", "properties.n=7"]
      #expect(
        try publisher.deadLetters(["redrive", "--dry-run", "--json"] + some).output
          .contains("\"queued\":1"))
      let slip = try publisher.deadLetters(["list", "--where", "properties.m=7"])
      #expect(slip.errors == "note: none of 2 events has 'properties.m' (--where)\n")
      #expect(try publisher.letters().allSatisfy { $0["state"]?.text == "kept" })
      fake.play([.serve])
      #expect(try publisher.deadLetters(["redrive"] + some).status == .exited(0))
      #expect(try waitUntil { try publisher.letters().count == 1 })
      #expect(fake.ledger.ids.last == EventLine.loadID(7))
      #expect(try publisher.letters().first?["event"]?["messageId"]?.text == EventLine.loadID(3))
      #expect(
        try waitUntil { try publisher.status()["ledger"]?["applied"]?.int == 9 })
      #expect(try publisher.status()["ledger"]?["balanced"] == .bool(true))
      #expect(try publisher.deadLetters(["drop"]).status == .exited(0))
      #expect(try publisher.letters().isEmpty)
    }

    @Test func `a list that ends at its limit says that there are more`() throws {
      let fake = try FakeServer(FakeSegment())
      let broker = try TestBroker()
      let publisher = try publisherWithLetters(fake, broker)
      let first = try publisher.deadLetters(["list", "--limit", "1"])
      #expect(first.lines.count == 2 && first.errors.contains("there are more"), "\(first)")
      let all = try publisher.deadLetters(["list", "--limit", "2"])
      #expect(all.lines.count == 3 && all.errors.isEmpty, "\(all)")
      #expect(try broker.isUp())
    }

    @Test func `an edited one is checked, and sent as it is then`() throws {
      let fake = try FakeServer(FakeSegment())
      let broker = try TestBroker()
      let publisher = try publisherWithLetters(fake, broker)
      let bad = try publisher.deadLetters(["edit", "1", "-"], input: "{\"type\":")
      #expect(bad.status == .exited(3), "\(bad.errors)")
      let mended = EventLine.track("Mended", id: "mended")
      let edit = try publisher.deadLetters(["edit", "1", "-"], input: mended)
      #expect(edit.status == .exited(0), "\(edit.errors)")
      #expect(edit.output.contains("`eventbus deadletters redrive --destination segment --data "))
      #expect(try publisher.deadLetters(["show", "1"]).output.contains("Mended"))
      #expect(try publisher.deadLetters(["redrive", "--id", "1"]).status == .exited(0))
      #expect(waitUntil { fake.ask { $0.stored.contains { $0.id == "mended" } } })
      #expect(try waitUntil { try publisher.letters().count == 1 })
    }

    @Test func `what a corrected event lacks of its identity stays the letter's`() throws {
      let fake = try FakeServer(FakeSegment())
      let broker = try TestBroker()
      let publisher = try publisherWithLetters(fake, broker)
      let before = try #require(try publisher.letters().first?["event"])
      let edit = try publisher.deadLetters(
        ["edit", "1", "-"], input: #"{"event":"Mended","userId":"u"}"#)
      #expect(edit.status == .exited(0), "\(edit.errors)")
      let after = try #require(try publisher.letters().first?["event"])
      #expect(after["event"]?.text == "Mended")
      for field in ["messageId", "timestamp"] {
        #expect(after[field]?.text != nil)
        #expect(after[field] == before[field], "\(field)")
      }
    }

    @Test(arguments: ["redrive", "drop", "show"])
    func `a dead letter that is not there is an error`(_ command: String) throws {
      let fake = try FakeServer(FakeSegment())
      let broker = try TestBroker()
      let publisher = try PublisherProcess(
        bus: broker.bus, data: broker.folder.file("data"), endpoint: fake.url)
      let run = try publisher.deadLetters(
        command == "show" ? [command, "99"] : [command, "--id", "99"])
      #expect(run.status == .exited(1))
      #expect(run.errors.contains("segment has no dead letter 99"), "\(run.errors)")
    }

    @Test func `a publisher that does not run sends them at its next start`() throws {
      let fake = try FakeServer(FakeSegment())
      let broker = try TestBroker()
      let publisher = try publisherWithLetters(fake, broker)
      #expect(publisher.stop() == .exited(0))
      fake.play([.serve])
      let redrive = try publisher.deadLetters(["redrive"])
      #expect(redrive.output.contains("next start"))
      try publisher.start()
      #expect(try waitUntil { try publisher.letters().isEmpty })
      #expect(Array(fake.ledger.ids.suffix(2)) == [EventLine.loadID(3), EventLine.loadID(7)])
    }

    @Test func `a damaged state file is moved aside, and what it held goes on`() throws {
      let fake = try FakeServer(FakeSegment())
      let broker = try TestBroker()
      let publisher = try publisherWithLetters(fake, broker)
      let file = broker.folder.file("data/destinations/segment/state.sqlite")
      for damage in ["cut", "garbage"] {
        #expect(publisher.stop() == .exited(0))
        let handle = try #require(FileHandle(forUpdatingAtPath: file))
        let size = try handle.seekToEnd()
        if damage == "cut" {
          try handle.truncate(atOffset: size - size / 3)
        } else {
          try handle.seek(toOffset: 0)
          try handle.write(contentsOf: Data(repeating: 0x5A, count: 4000))
        }
        try handle.close()
        let count = fake.ask { $0.stored.count }
        try publisher.start()
        let told = publisher.process.errorOutput.waitForLine { $0.contains("damaged-") }
        #expect(told != nil, "\(damage): \(publisher.log)")
        // It goes on where the bus has its cursor: nothing is sent again.
        let line = EventLine.track("After", id: "after-\(damage)")
        #expect(try broker.publish(lines: [line]).status == .exited(0))
        #expect(waitUntil { fake.ask { $0.stored.count } == count + 1 })
        #expect(fake.ledger.ids.last == "after-\(damage)")
      }
      let folder = broker.folder.file("data/destinations/segment")
      let names = try FileManager.default.contentsOfDirectory(atPath: folder)
      #expect(names.filter { $0.hasPrefix("damaged-") && $0.hasSuffix(".sqlite") }.count == 2)
    }

    @Test func `a folder that cannot be written is told at the start`() throws {
      let fake = try FakeServer(FakeSegment())
      let broker = try TestBroker()
      let file = broker.folder.file("file")
      try "no folder".write(toFile: file, atomically: true, encoding: .utf8)
      let publisher = try PublisherProcess(
        bus: broker.bus, data: file, endpoint: fake.url, wait: false)
      #expect(publisher.process.wait(.seconds(10)) == .exited(74))
      #expect(publisher.process.errorOutput.waitForLine { $0.contains(file) } != nil)
    }
  }
}
