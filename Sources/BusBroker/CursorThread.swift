internal import Database
internal import Primitives
internal import Synchronization

/// The thread that commits cursors: SQLite syncs the disk, and nobody else should wait for that.
final class CursorThread: Sendable {
  private let orders: Mailbox<[CursorChange]?>
  private let thread: OwnedThread
  /// What the store held at start.
  let records: [CursorRecord]

  init(directory: String, results: Mailbox<BrokerEvent>) throws {
    let orders = try Mailbox<[CursorChange]?>()
    let gate = try StartGate()
    let loaded = Loaded()
    self.orders = orders
    thread = try OwnedThread(name: "eb-cursors") {
      gate.run { opened in
        let store = try CursorStore(directory: directory)
        let records = try store.load()
        loaded.records.withLock { $0 = records }
        opened("")
        Self.run(store, orders, results)
      }
    }
    _ = try gate.wait()
    records = loaded.records.withLock { $0 }
  }

  private final class Loaded: Sendable {
    let records = Mutex<[CursorRecord]>([])
  }

  private static func run(
    _ store: borrowing CursorStore, _ orders: Mailbox<[CursorChange]?>,
    _ results: Mailbox<BrokerEvent>
  ) {
    while true {
      orders.wake.wait()
      for changes in orders.takeAll() {
        guard let changes else { return }
        do throws(DatabaseError) {
          try store.write(changes)
          results.post(.cursors(changes, failure: nil))
        } catch {
          results.post(.cursors(changes, failure: "\(error)"))
        }
      }
    }
  }

  func post(_ changes: [CursorChange]) { orders.post(changes) }

  deinit { stop() }

  func stop() {
    orders.post(nil)
    thread.join()
  }
}
