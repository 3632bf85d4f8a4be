internal import Primitives

/// Every event name the journal has seen: its number, its last sequence and its counts.
///
/// Bounded by `limit` names; a batch that brings one more has those events refused (TOO_MANY_NAMES).
/// About 15 ns a lookup.
struct NameTable {
  let limit: Int
  private var interner = ByteInterner()
  /// By name number: the sequence of the last event (dense from 1), so also the count of events.
  private(set) var lastSequence: [UInt64] = []
  /// By name number: journal time of the last event.
  private(set) var lastTime: [Int64] = []

  init(limit: Int) { self.limit = limit }

  var count: Int { interner.count }
  var isFull: Bool { count >= limit }

  subscript(id: Int) -> [UInt8] { interner[id] }

  func find(_ name: RawSpan) -> Int? { interner.find(name) }

  /// The number of a name already checked; traps when the table is full and the name new.
  mutating func intern(_ name: RawSpan) -> Int {
    precondition(!isFull || find(name) != nil, "the caller checks the limit of \(limit) names")
    return internStored(name)
  }

  /// The number of a name that the journal holds. It is kept above the limit too: the limit may have
  /// been lowered since, and only a name that is new can be refused.
  mutating func internStored(_ name: RawSpan) -> Int {
    let id = interner.intern(name)
    if id == lastSequence.count {
      lastSequence.append(0)
      lastTime.append(0)
    }
    return id
  }

  /// Gives the next `count` sequences of a name; returns the first of them.
  mutating func take(_ count: Int, of id: Int, at time: Int64) -> UInt64 {
    let first = lastSequence[id] + 1
    lastSequence[id] += UInt64(count)
    lastTime[id] = time
    return first
  }

  /// Sets what a snapshot says of a name.
  mutating func restore(_ name: RawSpan, lastSequence sequence: UInt64, time: Int64) {
    let id = internStored(name)
    lastSequence[id] = sequence
    lastTime[id] = time
  }
}
