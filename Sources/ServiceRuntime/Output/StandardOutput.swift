public import Primitives

#if canImport(Glibc)
  internal import Glibc
#else
  internal import Darwin
#endif

/// Buffered writing to stdout (or another descriptor), by one owner.
///
/// When the reader goes away (`eventbus tail | head -3`) writing is over, not failed: `isClosed`
/// turns true, what follows is discarded, and the caller ends with success. Needs SIGPIPE ignored,
/// which `SignalSource` does. Holds at most 64 KiB before it writes.
public struct StandardOutput: ~Copyable {
  public enum Flushing: Sendable {
    /// After each line: for programs that read along.
    case line
    /// When the buffer is full, and at `flush`.
    case full
  }

  private static let capacity = 65_536

  public let isTerminal: Bool
  /// The reader has gone.
  public private(set) var isClosed = false
  private let descriptor: Int32
  private let flushing: Flushing
  private var buffer: [UInt8] = []

  public init(descriptor: Int32 = 1, flushing: Flushing = .full) {
    self.descriptor = descriptor
    self.flushing = flushing
    isTerminal = DescriptorWriter.isTerminal(descriptor)
    buffer.reserveCapacity(Self.capacity)
  }

  deinit {
    // Too late to report: who cares about failures calls `flush`.
    let rest = buffer
    do { try unsafe DescriptorWriter.writeAll(rest.span.bytes, to: descriptor) } catch {}
  }

  /// Appends `bytes` and a newline.
  public mutating func writeLine(_ bytes: borrowing RawSpan) throws(SystemError) {
    buffer.append(bytes)
    buffer.append(UInt8(ascii: "\n"))
    if flushing == .line || buffer.count >= Self.capacity { try flush() }
  }

  public mutating func writeLine(_ text: String) throws(SystemError) {
    try write(text + "\n")
  }

  /// Appends `text`; a newline at its end ends a line.
  public mutating func write(_ text: String) throws(SystemError) {
    buffer += text.utf8
    let endsLine = flushing == .line && buffer.last == UInt8(ascii: "\n")
    if endsLine || buffer.count >= Self.capacity { try flush() }
  }

  /// Appends bytes as they are, whatever the flushing.
  public mutating func write(_ bytes: [UInt8]) throws(SystemError) {
    buffer += bytes
    if buffer.count >= Self.capacity { try flush() }
  }

  /// Hands everything to the kernel.
  public mutating func flush() throws(SystemError) {
    defer { buffer.removeAll(keepingCapacity: true) }
    guard !isClosed, !buffer.isEmpty else { return }
    do {
      try unsafe DescriptorWriter.writeAll(buffer.span.bytes, to: descriptor)
    } catch {
      guard error.code == EPIPE else { throw error }
      isClosed = true
    }
  }
}
