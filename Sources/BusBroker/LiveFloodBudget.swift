/// What the live feed does about its connections while the live thread cannot keep up with them.
///
/// What came in counts until the thread has read all of it, also that of connections that are gone: their
/// subscriptions are still in libzmq's tree, and taking them out costs a walk through all of it. So once
/// `maximumBytes` have come, or `maximumEnded` connections have gone, no new connection is taken until the
/// thread has caught up. From those that are there only a trickle passes, the smallest senders first:
/// somebody who asks for one more name meanwhile is served, a flood is not, however many share it.
struct LiveFloodBudget {
  /// What may come in while the thread is behind: 5,000 subscriptions of some length.
  static let maximumBytes: UInt64 = 512 << 10
  /// What passes in a second afterwards.
  static let trickleBytes: UInt64 = 32 << 10
  /// Each of them keeps some 50 KiB until the thread comes to it.
  static let maximumEnded = 100

  struct Verdict: Equatable {
    /// Descriptors of the connections to end.
    var ended: [Int32] = []
    var takesConnections = true
  }

  private struct Look {
    /// Bytes by descriptor.
    var received: [Int32: UInt64]
    var time: Int64
  }

  /// Nil while the thread keeps up.
  private var last: Look?
  private var room: UInt64 = 0
  private var ended = 0
  private var isSpent = false

  var isOpen: Bool { last != nil }

  /// The live thread has read all that came.
  mutating func settle() { self = LiveFloodBudget() }

  /// - Parameters:
  ///   - received: bytes that came in by each open connection since its beginning.
  ///   - time: nanoseconds of a monotonic clock.
  mutating func look(_ received: [Int32: UInt64], at time: Int64) -> Verdict {
    defer { last = Look(received: received, time: time) }
    guard let last else {
      room = Self.maximumBytes
      return Verdict()
    }
    if isSpent { refill(UInt64(clamping: time - last.time)) }
    // A descriptor that has fewer bytes than before is another connection's.
    ended += last.received.count { descriptor, before in
      received[descriptor].map { $0 < before } ?? true
    }
    let sent = received.map { descriptor, bytes in
      let before = last.received[descriptor] ?? 0
      return (descriptor: descriptor, bytes: bytes >= before ? bytes - before : bytes)
    }
    let over = sent.sorted { $0.bytes < $1.bytes }
      .filter { sender in
        // What one had sent before it goes is in the tree, too.
        defer { room -= min(room, sender.bytes) }
        return sender.bytes > room
      }
    isSpent = isSpent || !over.isEmpty || ended >= Self.maximumEnded
    return Verdict(ended: over.map(\.descriptor), takesConnections: !isSpent)
  }

  private mutating func refill(_ nanoseconds: UInt64) {
    let more = min(nanoseconds, 1_000_000_000) * Self.trickleBytes / 1_000_000_000
    room = min(Self.trickleBytes, room + more)
  }
}
