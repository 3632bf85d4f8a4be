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
    let state = Mutex(State())
  }

  private let shared = Shared()

  init(descriptor: Int32) throws(SystemError) {
    let shared = shared
    try OwnedThread(name: "collect") { Self.collect(descriptor, into: shared) }.detach()
  }

  public var bytes: [UInt8] { shared.state.withLock { $0.bytes } }
  public var text: String { String(decoding: bytes, as: UTF8.self) }
  public var lines: [String] { text.split(separator: "\n").map(String.init) }

  /// All that was written; returns when every writer has closed the pipe, or after `limit`.
  public func waitForEnd(_ limit: Duration = .seconds(5)) -> [UInt8] {
    _ = poll(limit) { $0.isAtEnd }
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

  private func poll(_ limit: Duration, _ isDone: (State) -> Bool) -> Bool {
    let deadline = SystemClock.monotonic() + Sanitizer.patience(limit)
    while !shared.state.withLock({ isDone($0) }) {
      if SystemClock.monotonic() > deadline { return false }
      usleep(1000)
    }
    return true
  }

  private static func collect(_ descriptor: Int32, into shared: Shared) {
    var buffer = [UInt8](repeating: 0, count: 64 << 10)
    while true {
      let count = unsafe read(descriptor, &buffer, buffer.count)
      if count < 0 && errno == EINTR { continue }
      if count <= 0 { break }
      shared.state.withLock {
        if $0.bytes.count < 64 << 20 { $0.bytes.append(contentsOf: buffer[..<count]) }
      }
    }
    close(descriptor)
    shared.state.withLock { $0.isAtEnd = true }
  }
}
