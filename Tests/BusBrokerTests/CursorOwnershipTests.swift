import BusProtocol
import BusTransport
import Primitives
import TestSupport
import Testing

@testable import BusBroker

/// Who may move a named subscriber's cursor: its commits and an operator, not where it happens to begin.
@Suite(.timeLimit(.minutes(5)))
struct CursorOwnershipTests {
  private func seek(_ client: inout RawClient, _ name: String, to offset: UInt64) throws {
    var admin = AdminMessage(request: 1, action: .seek)
    admin.arguments["name"] = .bytes(Array(name.utf8))
    admin.setSeekTarget(.offset(offset))
    try client.send(admin.encode())
    _ = try client.receive(.reply)
  }

  @Test(
    arguments: [
      .earliest, .latest, .offset(1), .position(Position(epoch: .max, offset: 1)), .time(0),
    ] as [StartPosition])
  func `an operator's seek outlives a start elsewhere`(_ start: StartPosition) throws {
    let folder = try TemporaryFolder()
    let broker = try startBroker(folder)
    let context = try ZeroMQContext()
    var client = try RawClient(context, broker.addresses.bus)
    let welcome = try client.hello()
    try client.publish(["A", "A", "A", "A"], token: welcome.token)
    _ = try client.acknowledged()
    var first = try RawClient(context, broker.addresses.bus)
    // A new name's cursor is where it begins.
    #expect(try first.open("sink", start: .offset(3)).cursor.offset == 3)
    try seek(&client, "sink", to: 2)
    var second = try RawClient(context, broker.addresses.bus)
    let elsewhere = try second.open("sink", start: start, instance: [2])
    #expect(elsewhere.seekGeneration == 1)
    // It still is the one under this name.
    var third = try RawClient(context, broker.addresses.bus)
    let own = try third.open("sink", start: .cursor(otherwise: .latest), instance: [3])
    #expect(own.cursor.offset == 2)
    _ = try second.receive(.fenced)
    broker.stop()
    broker.join()
  }

  @Test func `a commit of a session from before a seek is answered by RESET and moves nothing`()
    throws
  {
    let folder = try TemporaryFolder()
    let broker = try startBroker(folder)
    let context = try ZeroMQContext()
    var client = try RawClient(context, broker.addresses.bus)
    let welcome = try client.hello()
    try client.publish(["A", "A", "A", "A"], token: welcome.token)
    _ = try client.acknowledged()
    var reader = try RawClient(context, broker.addresses.bus)
    let opened = try reader.open("sink", start: .earliest)
    try reader.send(CreditMessage(events: 100, bytes: 1 << 20).encode(token: opened.token))
    let end = try reader.events().scannedTo
    try seek(&client, "sink", to: 1)
    _ = try reader.receive(.reset)
    try reader.send(CommitMessage(cursor: end).encode(.commit, token: opened.token))
    _ = try reader.receive(.reset)
    #expect(try reader.open("sink", start: .cursor(otherwise: .latest)).cursor.offset == 1)
    broker.stop()
    broker.join()
  }

  @Test func `a commit of an epoch that the journal does not have opens the session anew`() throws {
    let folder = try TemporaryFolder()
    let broker = try startBroker(folder)
    let context = try ZeroMQContext()
    var client = try RawClient(context, broker.addresses.bus)
    let welcome = try client.hello()
    try client.publish(["A", "A", "A", "A"], token: welcome.token)
    _ = try client.acknowledged()
    var reader = try RawClient(context, broker.addresses.bus)
    let opened = try reader.open("sink", start: .offset(3))
    let other = Position(epoch: opened.cursor.epoch + 1, offset: 3)
    try reader.send(CommitMessage(cursor: other).encode(.commit, token: opened.token))
    _ = try reader.receive(.reset)
    let again = try reader.open("sink", start: .cursor(otherwise: .latest))
    #expect(again.cursor == opened.cursor)
    broker.stop()
    broker.join()
  }

  @Test func `a commit after a start elsewhere moves the cursor`() throws {
    let folder = try TemporaryFolder()
    let broker = try startBroker(folder)
    let context = try ZeroMQContext()
    var client = try RawClient(context, broker.addresses.bus)
    let welcome = try client.hello()
    try client.publish(["A", "A", "A", "A"], token: welcome.token)
    _ = try client.acknowledged()
    var reader = try RawClient(context, broker.addresses.bus)
    _ = try reader.open("sink", start: .offset(3))
    let opened = try reader.open("sink", start: .earliest)
    try reader.send(CommitMessage(cursor: opened.cursor).encode(.commit, token: opened.token))
    _ = try reader.receive(.committed)
    #expect(try reader.open("sink", start: .cursor(otherwise: .latest)).cursor.offset == 0)
    broker.stop()
    broker.join()
  }
}
