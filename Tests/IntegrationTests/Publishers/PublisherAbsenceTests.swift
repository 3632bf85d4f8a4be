import DestinationTestSupport
import Foundation
import Primitives
import TestSupport
import Testing

extension IntegrationTests {
  /// Destinations that are away, and publishers that go away.
  @Suite struct PublisherAbsenceTests {
    @Test func `a destination that was away gets everything afterwards, in order`() throws {
      let broker = try TestBroker()
      let data = broker.folder.file("data")
      let publisher = try PublisherProcess(
        bus: broker.bus, data: data, endpoint: "http://no-such-host.invalid")
      #expect(try broker.publish(input: EventLine.load(0..<5000)).status == .exited(0))
      #expect(
        publisher.process.errorOutput.waitForLine { $0.contains("no-such-host.invalid") } != nil)
      #expect(try waitUntil { try publisher.state() == "backing-off" })
      #expect(publisher.stop() == .exited(0))
      let fake = try FakeServer(FakeSegment())
      let port = fake.port
      fake.stop()
      try publisher.start(endpoint: "http://127.0.0.1:\(port)")
      #expect(try broker.publish(input: EventLine.load(5000..<10_000)).status == .exited(0))
      #expect(try waitUntil { try publisher.state() == "backing-off" })
      let again = try FakeServer(FakeSegment(), port: port)
      #expect(try publisher.isSettled(10_000, .seconds(60)))
      #expect(again.ledger.ids == (0..<10_000).map { EventLine.loadID($0) })
    }

    @Test func `told to stop it finishes what is under way`() throws {
      let fake = try FakeServer(FakeSegment(), script: [.delivery(.slow(milliseconds: 300))])
      let broker = try TestBroker()
      let publisher = try PublisherProcess(
        bus: broker.bus, data: broker.folder.file("data"), endpoint: fake.url)
      for round in 0..<6 {
        let input = EventLine.load(round * 100..<(round + 1) * 100)
        #expect(try broker.publish(input: input).status == .exited(0))
        #expect(waitUntil { fake.ask { $0.requests.count } > round })
        #expect(publisher.stop() == .exited(0), "\(publisher.log)")
        try publisher.start()
      }
      #expect(try publisher.isSettled(600))
      #expect(Set(fake.ledger.ids).count == 600)
      // What was under way was waited for, so nothing was sent twice.
      #expect(fake.ledger.doubles.isEmpty)
      #expect(try publisher.letters().isEmpty)
    }

    @Test func `killed again and again it loses nothing and changes nothing`() throws {
      let fake = try FakeServer(FakeSegment(), script: [.delivery(.hang(milliseconds: 20))])
      let broker = try TestBroker()
      let data = broker.folder.file("data")
      let publisher = try PublisherProcess(bus: broker.bus, data: data, endpoint: fake.url)
      for round in 0..<8 {
        let input = EventLine.load(round * 2500..<(round + 1) * 2500)
        let count = fake.ask { $0.requests.count }
        #expect(try broker.publish(input: input).status == .exited(0))
        #expect(waitUntil { fake.ask { $0.requests.count } > count })
        publisher.kill()
        try publisher.start()
      }
      #expect(try publisher.isSettled(20_000))
      let ledger = fake.ledger
      #expect(Set(ledger.ids) == Set((0..<20_000).map { EventLine.loadID($0) }))
      #expect(ledger.changed.isEmpty)
      #expect(try publisher.status()["ledger"]?["applied"]?.int == 20_000)
      let order = ledger.orderByUser.values.allSatisfy { $0 == $0.sorted() }
      #expect(order)
    }

    @Test func `a second publisher of the same name is told who has its folder`() throws {
      let fake = try FakeServer(FakeSegment())
      let broker = try TestBroker()
      let data = broker.folder.file("data")
      let publisher = try PublisherProcess(bus: broker.bus, data: data, endpoint: fake.url)
      let second = try PublisherProcess(
        bus: broker.bus, data: data, endpoint: fake.url, wait: false)
      #expect(second.process.wait() == .exited(73))
      #expect(second.log.contains("\(publisher.process.id)"))
    }
  }
}
