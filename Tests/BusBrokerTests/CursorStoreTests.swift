import BusProtocol
import BusTransport
import Database
import Foundation
import TestSupport
import Testing

@testable import BusBroker

/// A start with a cursor store that cannot be used: refused, so that nobody begins anew unasked.
@Suite(.timeLimit(.minutes(5)))
struct CursorStoreTests {
  /// A folder in which one subscriber has a cursor.
  private func used() throws -> TemporaryFolder {
    let folder = try TemporaryFolder()
    let broker = try startBroker(folder)
    let context = try ZeroMQContext()
    var client = try RawClient(context, broker.addresses.bus)
    let welcome = try client.hello()
    try client.publish(["A", "A", "A"], token: welcome.token)
    _ = try client.acknowledged()
    let opened = try client.open("sink", start: .offset(2))
    try client.send(CommitMessage(cursor: opened.cursor).encode(.commit, token: opened.token))
    _ = try client.receive(.committed)
    broker.stop()
    broker.join()
    return folder
  }

  private func overwrite(
    _ folder: TemporaryFolder, _ change: (inout Data) -> Void
  ) throws -> String {
    let path = folder.file("cursors.sqlite")
    var data = try Data(contentsOf: URL(fileURLWithPath: path))
    change(&data)
    try data.write(to: URL(fileURLWithPath: path))
    return path
  }

  @Test(arguments: ["all of it", "its head", "its pages"])
  func `damage stops the start, and moving the file away begins anew`(_ what: String) throws {
    let folder = try used()
    let path = try overwrite(folder) { data in
      let places =
        switch what {
        case "all of it": 0..<data.count
        case "its head": 0..<100
        default: 4096..<data.count
        }
      data.replaceSubrange(places, with: Data(repeating: 0x5A, count: places.count))
    }
    let error = #expect(throws: BrokerError.self) { try startBroker(folder) }
    #expect(error?.kind == .disk)
    let text = error?.description ?? ""
    #expect(text.contains(path) && text.contains("restore it, or move it away"), "\(text)")
    for suffix in ["", "-wal", "-shm"] {
      // Those that are there.
      try? FileManager.default.moveItem(atPath: path + suffix, toPath: path + ".old" + suffix)
    }
    let broker = try startBroker(folder)
    let context = try ZeroMQContext()
    var client = try RawClient(context, broker.addresses.bus)
    #expect(try client.open("sink", start: .cursor(otherwise: .earliest)).cursor.offset == 0)
    broker.stop()
    broker.join()
  }

  @Test func `a cursor that could not be written is written the next time`() throws {
    let folder = try TemporaryFolder()
    let store = try CursorStore(directory: folder.path)
    let change = CursorChange.put(
      CursorRecord(
        name: Array("sink".utf8), cursor: Position(epoch: 1, offset: 2), filters: [], created: 0,
        lastSeen: 0))
    // As a disk does that is full in the middle of a transaction.
    let other = try Database(folder.file("cursors.sqlite"), migrations: [""])
    try other.execute(
      "CREATE TRIGGER f BEFORE INSERT ON subscribers BEGIN SELECT RAISE(ABORT, 'full'); END")
    #expect(throws: DatabaseError.self) { try store.write([change]) }
    try other.execute("DROP TRIGGER f")
    try store.write([change])
    let offsets = try store.load().map(\.cursor.offset)
    #expect(offsets == [2])
  }

  @Test func `a store of a newer program stops the start and stays as it is`() throws {
    let folder = try used()
    // SQLite keeps `user_version` at byte 60, big endian.
    let path = try overwrite(folder) { $0[63] = 2 }
    let before = try Data(contentsOf: URL(fileURLWithPath: path))
    let error = #expect(throws: BrokerError.self) { try startBroker(folder) }
    #expect(error?.kind == .disk)
    let text = error?.description ?? ""
    #expect(text.contains("has schema 2, this program knows up to 1"), "\(text)")
    #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == before)
  }

  @Test(arguments: [
    "UPDATE subscribers SET generation = -1", "UPDATE subscribers SET offset = -1",
    "UPDATE subscribers SET delivered = -1", "UPDATE subscribers SET missed = -1",
    "INSERT INTO filters VALUES (CAST('sink' AS BLOB), 0, 'globe', x'2A')",
  ])
  func `a number or a filter that cannot be stops the start`(_ change: String) throws {
    let folder = try used()
    do { try Database(folder.file("cursors.sqlite"), migrations: [""]).execute(change) }
    let error = #expect(throws: BrokerError.self) { try startBroker(folder) }
    #expect(error?.description.contains("restore it, or move it away") ?? false, "\(error as Any)")
  }
}
