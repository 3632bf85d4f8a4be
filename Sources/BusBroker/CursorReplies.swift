internal import BusProtocol

/// Who changed a cursor and waits until the change is on the disk: only then is it answered.
///
/// One transaction is under way at a time. What is asked for meanwhile belongs to the next, since the one
/// under way may hold the same name as it was before.
struct CursorReplies {
  struct Waiting {
    var request: AdminMessage
    var name: [UInt8]
    var peer: Peer
    /// A seek ends the session, which is opened again at once: nobody is away for that.
    var wasConnected = false
  }

  let limit: Int
  private var queued: [Waiting] = []
  private var writing: [Waiting] = []

  init(limit: Int = 1000) { self.limit = limit }

  var isFull: Bool { queued.count + writing.count >= limit }

  mutating func wait(_ waiting: Waiting) { queued.append(waiting) }

  /// A transaction with all that was changed so far begins.
  mutating func begin() {
    precondition(writing.isEmpty, "one transaction at a time")
    swap(&writing, &queued)
  }

  /// It ended, well or not: who waited for it.
  mutating func end() -> [Waiting] {
    defer { writing.removeAll(keepingCapacity: true) }
    return writing
  }
}
