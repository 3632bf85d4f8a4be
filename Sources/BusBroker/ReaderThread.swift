internal import EventJournal
internal import Primitives
internal import Synchronization

/// The thread that touches segment files for reading: cold deliveries, FETCH, times, retention.
///
/// Requests are bounded by their sources: one a subscriber, and `maximumFetches` for tools, past which
/// the shell refuses. One thread, so that a slow disk delays readers and never ingest.
final class ReaderThread<Storage: JournalStorage>: Sendable {
  static var maximumFetches: Int { 256 }

  private let requests: Mailbox<ReadRequest?>
  private let waiting = Atomic<Int>(0)
  private let thread: OwnedThread

  init(
    journal: Journal<Storage>, results: Mailbox<BrokerEvent>
  ) throws(SystemError) {
    let requests = try Mailbox<ReadRequest?>()
    self.requests = requests
    let reading = JournalReading(journal: journal)
    thread = try OwnedThread(name: "eb-reader") {
      while true {
        requests.wake.wait()
        for request in requests.takeAll() {
          guard let request else { return }
          results.post(.read(reading.perform(request)))
        }
      }
    }
  }

  /// Requests posted and not answered yet; the shell counts answers with `answered`.
  var outstanding: Int { waiting.load(ordering: .relaxed) }

  func post(_ request: ReadRequest) {
    waiting.add(1, ordering: .relaxed)
    requests.post(request)
  }

  func answered() { waiting.subtract(1, ordering: .relaxed) }

  deinit { stop() }

  func stop() {
    requests.post(nil)
    thread.join()
  }
}
