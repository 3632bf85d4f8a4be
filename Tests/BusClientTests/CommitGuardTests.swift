import BusBroker
import BusProtocol
import TestSupport
import Testing

@testable import BusClient

@Suite(.timeLimit(.minutes(5)))
struct CommitGuardTests {
  private func at(_ offset: UInt64) -> Position { Position(epoch: 1, offset: offset) }

  @Test func `without a seek everything may be committed`() {
    #expect(CommitGuard().allows(at(7)))
  }

  @Test func `after a seek only what was taken since may be committed`() {
    var commits = CommitGuard()
    commits.seek(to: at(10))
    #expect([9, 10, 11].map { commits.allows(at($0)) } == [false, true, false])
    commits.took(through: at(20))
    #expect([9, 15, 20, 21].map { commits.allows(at($0)) } == [false, true, true, false])
    commits.seek(to: at(0))
    #expect([0, 15].map { commits.allows(at($0)) } == [true, false])
  }

  @Test(arguments: [UInt64(2), 9])
  func `a batch from before a seek does not undo it`(_ target: UInt64) throws {
    let folder = try TemporaryFolder()
    let broker = try startBroker(folder)
    let address = broker.addresses.bus
    let producer = try Producer(.init(address: address, client: "test"))
    for number in 0..<5 { try producer.publish("A", number) }
    #expect(producer.flushBlocking(deadline: .seconds(10)).isComplete)
    let subscriber = try Subscriber(.init(address: address, client: "test", name: "sink"))
    let old = try #require(try subscriber.nextBatch(deadline: .seconds(10)))
    for number in 5..<10 { try producer.publish("A", number) }
    #expect(producer.flushBlocking(deadline: .seconds(10)).isComplete)
    var bus = try BusAdministration(address: address)
    _ = try bus.seek("sink", to: .offset(target))
    #expect(waitUntil { subscriber.status.seekGeneration == 1 })
    subscriber.commit(old)
    #expect(subscriber.status.staleCommits == 1)
    // What comes now can be committed, and is: so the stale commit had its time.
    let next = try #require(try subscriber.nextBatch(deadline: .seconds(10)))
    #expect(next.events.first?.offset == target)
    let first = Position(epoch: next.end.epoch, offset: target)
    subscriber.commit(first)
    #expect(try subscriber.waitForCommit(first, deadline: .seconds(10)))
    #expect(try bus.show("sink").number("cursor") == target)
    broker.stop()
    broker.join()
  }
}
