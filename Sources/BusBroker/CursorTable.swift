internal import BusProtocol
internal import Primitives

/// What the broker keeps of one named subscriber, in memory and in the cursor store.
struct CursorRecord: Hashable, Sendable {
  var name: [UInt8]
  /// The next event wanted, durable with the store's last transaction.
  var cursor: Position
  var filters: [NameFilter]
  /// Raised by each `seek`: a sink that keeps its own cursor adopts the broker's when it sees a new one.
  var seekGeneration: UInt64 = 0
  var isPaused = false
  /// Wall clock, nanoseconds: of the first OPEN, and of the last sign of life.
  var created: Int64
  var lastSeen: Int64
  /// Ledger since the first OPEN: delivered (again counts again) and skipped by gaps.
  var delivered: UInt64 = 0
  var missed: UInt64 = 0
}

/// A change that the cursor store must make durable.
enum CursorChange: Hashable, Sendable {
  case put(CursorRecord)
  case delete(name: [UInt8])

  var name: [UInt8] {
    switch self {
    case .put(let record): record.name
    case .delete(let name): name
    }
  }
}

/// The named subscribers and which of their changes are not durable yet.
///
/// Changes to one name collapse: only the newest goes to the store, and one transaction at a time is
/// under way, so the disk sees at most one sync for however many commits came meanwhile.
struct CursorTable {
  let limit: Int
  private(set) var records: [[UInt8]: CursorRecord] = [:]
  private var changed: [[UInt8]: CursorChange] = [:]
  private var isWriting = false
  private var hasFailed = false

  init(limit: Int, records: [CursorRecord] = []) {
    self.limit = limit
    for record in records { self.records[record.name] = record }
  }

  subscript(name: [UInt8]) -> CursorRecord? { records[name] }
  var isFull: Bool { records.count >= limit }

  mutating func put(_ record: CursorRecord) {
    records[record.name] = record
    changed[record.name] = .put(record)
  }

  /// Notes a sign of life without asking for a write of its own.
  mutating func seen(_ name: [UInt8], at time: Int64) { records[name]?.lastSeen = time }

  mutating func addDelivered(_ name: [UInt8], events: Int) {
    records[name]?.delivered += UInt64(events)
  }

  mutating func delete(_ name: [UInt8]) -> Bool {
    guard records.removeValue(forKey: name) != nil else { return false }
    changed[name] = .delete(name: name)
    return true
  }

  /// The changes to write now; empty while a transaction is under way.
  ///
  /// - Parameter retrying: also after a failure. A full disk refuses at once, and the next try would too.
  mutating func takeChanges(retrying: Bool = false) -> [CursorChange] {
    guard !isWriting, retrying || !hasFailed, !changed.isEmpty else { return [] }
    isWriting = true
    let taken = Array(changed.values)
    changed.removeAll(keepingCapacity: true)
    return taken
  }

  /// The transaction ended. What failed is written again unless something newer replaced it.
  mutating func wrote(_ changes: [CursorChange], succeeded: Bool) {
    isWriting = false
    hasFailed = !succeeded
    guard !succeeded else { return }
    for change in changes where changed[change.name] == nil { changed[change.name] = change }
  }

  /// The lowest offset that a subscriber not idle for `idle` has yet to read; nil when there is none.
  func oldestNeeded(at now: Int64, idle: Duration) -> UInt64? {
    records.values.lazy.filter { now - $0.lastSeen < idle.nanoseconds }.map(\.cursor.offset).min()
  }
}
