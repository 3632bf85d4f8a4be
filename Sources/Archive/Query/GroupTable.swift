internal import Primitives
internal import Synchronization

/// Counts by key. A key is the JSON of the fields it is grouped by, one newline between two: canonical
/// JSON has none inside, so keys are exact, and 1, 1.0, "1" and true are four groups.
struct GroupTable: Sendable {
  private var keys = ByteInterner()
  private(set) var counts: [UInt64] = []

  var count: Int { counts.count }
  var memoryBytes: Int { keys.memoryBytes + counts.count * 8 }

  mutating func add(_ key: RawSpan, _ count: UInt64 = 1) {
    let id = keys.intern(key)
    if id == counts.count { counts.append(count) } else { counts[id] += count }
  }

  func key(_ id: Int) -> [UInt8] { keys[id] }

  /// Gives all counts to `other`, and is empty.
  mutating func move(to other: inout GroupTable) {
    for id in 0..<count {
      let key = keys[id]
      unsafe other.add(key.span.bytes, counts[id])
    }
    keys.removeAll()
    counts.removeAll(keepingCapacity: true)
  }
}

/// The groups of all threads together, up to a limit of their number and memory.
final class SharedGroups: Sendable {
  /// A thread's own groups go here once there are so many, so that threads need little memory.
  static let maximumOwn = 65_536
  /// What the keys and counts of all groups may take.
  static let maximumBytes = 128 << 20

  private let table = Mutex(GroupTable())
  private let maximumGroups: Int

  init(maximumGroups: Int) { self.maximumGroups = maximumGroups }

  /// Takes a thread's groups over; false at the limit.
  func take(_ own: inout GroupTable) -> Bool {
    table.withLock { table in
      own.move(to: &table)
      return table.count <= maximumGroups && table.memoryBytes <= Self.maximumBytes
    }
  }

  func takeAll() -> GroupTable {
    table.withLock { table in
      var taken = GroupTable()
      swap(&taken, &table)
      return taken
    }
  }
}
