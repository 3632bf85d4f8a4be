/// What the client's store knows of the queue, and when to tell it more. Ids of events rise in the queue.
struct StoreLedger: Sendable {
  /// Between two attempts to write.
  static let pause: Int64 = 10_000_000_000

  /// Nil where there is no store.
  private var savedTo: Int64?
  private var deletes: [ClosedRange<Int64>] = []
  private var notBefore = Int64.min

  /// An earlier launch's events are there.
  mutating func isSaved(upTo id: Int64) { savedTo = id }

  mutating func opened(_ last: Int64) {
    if savedTo == nil { savedTo = last }
    notBefore = .min
  }

  mutating func stored(_ last: Int64) {
    savedTo = last
    deletes = []
    notBefore = .min
  }

  /// The caller empties the store itself.
  mutating func erased(_ last: Int64) {
    deletes = []
    if savedTo != nil { savedTo = last }
  }

  mutating func failed(at now: Int64) { notBefore = now.adding(Self.pause) }

  mutating func replaced() {
    savedTo = 0
    deletes = []
    notBefore = .min
  }

  mutating func renumber(by distance: Int64) {
    if let saved = savedTo { savedTo = saved + distance }
  }

  /// These left the queue.
  mutating func forget(_ ids: ClosedRange<Int64>) {
    guard let savedTo, ids.lowerBound <= savedTo else { return }
    // Neighbours become one range, so that a shedding queue does not gather many.
    if let last = deletes.last, last.upperBound + 1 == ids.lowerBound {
      deletes[deletes.count - 1] = last.lowerBound...ids.upperBound
    } else {
      deletes.append(ids)
    }
  }

  func unsaved(_ queue: QueuedEvents) -> (save: [QueuedEvent], delete: [ClosedRange<Int64>]) {
    guard let savedTo else { return ([], []) }
    return (queue.after(savedTo), deletes)
  }

  func isDue(_ queue: QueuedEvents, at now: Int64) -> Bool {
    guard let savedTo, now >= notBefore else { return false }
    // After a failure also without anything to write: an earlier launch's events may be waiting there.
    return notBefore > .min || !deletes.isEmpty || queue.last.map { $0.id > savedTo } ?? false
  }

  /// When to try again after a failure.
  var retryTime: Int64? { savedTo != nil && notBefore > .min ? notBefore : nil }

  func holds(_ queue: QueuedEvents) -> Bool {
    savedTo.map { $0 >= queue.last?.id ?? 0 } ?? false
  }
}
