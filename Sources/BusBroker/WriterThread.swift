internal import EventJournal
internal import Primitives

/// The thread beside the loop that receives: it writes groups and waits for the disk, so that the next
/// group fills meanwhile.
final class WriterThread<Storage: JournalStorage>: Sendable {
  private let orders: Mailbox<Order>
  private let thread: OwnedThread

  enum Order: Sendable {
    case write([JournalGroup])
    case stop
  }

  init(writer: JournalWriter<Storage>, results: Mailbox<BrokerEvent>) throws(SystemError) {
    let orders = try Mailbox<Order>()
    self.orders = orders
    thread = try OwnedThread(name: "eb-writer") {
      while true {
        orders.wake.wait()
        for order in orders.takeAll() {
          guard case .write(let groups) = order else { return }
          results.post(.written(Self.write(groups, with: writer)))
        }
      }
    }
  }

  private static func write(
    _ groups: [JournalGroup], with writer: JournalWriter<Storage>
  ) -> WriteResult {
    var count = 0
    do throws(JournalError) {
      for group in groups {
        try writer.write(group)
        count += 1
      }
      return WriteResult(groups: count, failure: nil)
    } catch {
      return WriteResult(groups: count, failure: error)
    }
  }

  func post(_ groups: [JournalGroup]) { orders.post(.write(groups)) }

  deinit { stop() }

  func stop() {
    orders.post(.stop)
    thread.join()
  }
}

struct WriteResult: Sendable {
  /// Groups that are on disk, from the first on.
  var groups: Int
  /// What happened to the one after them.
  var failure: JournalError?
}

/// News for the bus thread from the threads beside it.
enum BrokerEvent: Sendable {
  case written(WriteResult)
  case read(ReadResult)
  case cursors([CursorChange], failure: String?)
  case plain(PlainBatch)
  /// Messages on plain sockets that were refused there.
  case plainRefused([RefusalCounts.Key: RefusalCounts.Entry])
  /// A thread beside the bus thread ended with an error: the broker must end too.
  case threadFailed(String, String)
  /// The keys' rights are others than before.
  case accessChanged
  case stop
}
