internal import Primitives
internal import Synchronization

#if canImport(Glibc)
  internal import Glibc
#else
  internal import Darwin
#endif

/// Reads a pipe to its end on a thread of its own, so that the writer never blocks on a full pipe.
///
/// Keeps at most 64 MiB; the rest is read and dropped.
public final class OutputCollector: Sendable {
  private struct State {
    var bytes: [UInt8] = []
    var isAtEnd = false
  }

  private final class Shared: Sendable {
    let descriptor: Int32
    let state = Mutex(State())

    init(_ descriptor: Int32) { self.descriptor = descriptor }
  }

  private let shared: Shared

  init(descriptor: Int32) throws(SystemError) {
    let shared = Shared(descriptor)
    self.shared = shared
    try OwnedThread(name: "collect") { Self.collect(shared) }.detach()
  }

  public var bytes: [UInt8] { shared.state.withLock { $0.bytes } }
  public var text: String { String(decoding: bytes, as: UTF8.self) }
  public var lines: [String] { text.split(separator: "\n").map(String.init) }

  /// All that was written; returns when every writer has closed the pipe, or after `limit`.
  public func waitForEnd(_ limit: Duration = .seconds(5)) -> [UInt8] {
    _ = wait(limit) { $0.isAtEnd }
    return bytes
  }

  /// The first line that `matches`, as soon as it is there; nil when it did not come in time, or the
  /// pipe ended without it.
  public func waitForLine(
    _ limit: Duration = .seconds(20), where matches: (String) -> Bool
  ) -> String? {
    let deadline = SystemClock.monotonic() + Sanitizer.patience(limit)
    while true {
      let (bytes, isAtEnd) = shared.state.withLock { ($0.bytes, $0.isAtEnd) }
      // A line counts once its end is there, so half of one is never returned.
      let whole = isAtEnd ? bytes[...] : bytes[..<((bytes.lastIndex(of: 10) ?? -1) + 1)]
      for line in whole.split(separator: 10) {
        let text = String(decoding: line, as: UTF8.self)
        if matches(text) { return text }
      }
      if isAtEnd || SystemClock.monotonic() > deadline { return nil }
      usleep(1000)
    }
  }

  private func wait(_ limit: Duration, _ isDone: (State) -> Bool) -> Bool {
    let deadline = SystemClock.monotonic() + Sanitizer.patience(limit)
    while !shared.state.withLock({ isDone($0) }) {
      if SystemClock.monotonic() > deadline { return false }
      usleep(1000)
    }
    return true
  }

  /// Takes over what the pipe holds now: all that a program wrote which has ended, also where another one
  /// still has the pipe open.
  func settle() {
    shared.state.withLock { state in
      while !state.isAtEnd, Self.isReadable(shared.descriptor, milliseconds: 0) {
        Self.take(shared.descriptor, into: &state)
      }
    }
  }

  private static func collect(_ shared: Shared) {
    var isAtEnd = false
    while !isAtEnd {
      guard isReadable(shared.descriptor, milliseconds: -1) else { continue }
      isAtEnd = shared.state.withLock { state in
        // Somebody else may have taken it meanwhile, and a read would hold the lock.
        if isReadable(shared.descriptor, milliseconds: 0) {
          take(shared.descriptor, into: &state)
        }
        return state.isAtEnd
      }
    }
    close(shared.descriptor)
  }

  private static func isReadable(_ descriptor: Int32, milliseconds: Int32) -> Bool {
    var item = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    return unsafe poll(&item, 1, milliseconds) > 0
  }

  private static func take(_ descriptor: Int32, into state: inout State) {
    var buffer = [UInt8](repeating: 0, count: 64 << 10)
    let count = unsafe read(descriptor, &buffer, buffer.count)
    if count < 0 && errno == EINTR { return }
    guard count > 0 else { return state.isAtEnd = true }
    if state.bytes.count < 64 << 20 { state.bytes.append(contentsOf: buffer[..<count]) }
  }
}
