internal import CPlatform
internal import Synchronization

#if canImport(Glibc)
  internal import Glibc
#else
  internal import Darwin
#endif

/// A file descriptor that becomes readable when another thread has news; it goes into a poll set
/// beside sockets. Signals are counted together: many give one wake-up.
public final class WakeSignal: Sendable {
  public let descriptor: Int32

  public init() throws(SystemError) {
    descriptor = try SystemError.check("eventfd") { eb_eventfd() }
  }

  deinit { close(descriptor) }

  /// Makes the descriptor readable. Any thread; never blocks.
  public func signal() {
    var one: UInt64 = 1
    // Fails only when the counter is full, and then the descriptor is readable already.
    _ = unsafe write(descriptor, &one, 8)
  }

  /// Blocks the calling thread until there was a signal, and clears it.
  public func wait() {
    var item = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    // Interrupted or not, the caller looks into its mailbox and waits again.
    _ = unsafe poll(&item, 1, -1)
    clear()
  }

  /// Blocks until there was a signal or the time is over; the signal is left as it is.
  public func wait(milliseconds: Int32) {
    var item = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    _ = unsafe poll(&item, 1, milliseconds)
  }

  /// Makes the descriptor quiet until the next signal.
  public func clear() {
    var count: UInt64 = 0
    _ = unsafe read(descriptor, &count, 8)
  }
}

/// Messages from any thread to the one that owns the other end, taken in batches.
///
/// Bounded by what the senders may have outstanding, not here: every message answers a request or
/// carries bytes that a window counted. `post` wakes the owner only when the box was empty, so a burst
/// costs one system call.
public final class Mailbox<Message: Sendable>: Sendable {
  public let wake: WakeSignal
  private let messages = Mutex<[Message]>([])

  public init(wake: WakeSignal) { self.wake = wake }
  public init() throws(SystemError) { wake = try WakeSignal() }

  public func post(_ message: Message) {
    let wasEmpty = messages.withLock { queue in
      queue.append(message)
      return queue.count == 1
    }
    if wasEmpty { wake.signal() }
  }

  /// Everything posted since the last call, in order. The owner clears `wake` first.
  public func takeAll() -> [Message] {
    messages.withLock { queue in
      guard !queue.isEmpty else { return [] }
      var taken: [Message] = []
      swap(&taken, &queue)
      return taken
    }
  }
}
