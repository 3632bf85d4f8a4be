internal import Primitives

#if canImport(Glibc)
  internal import Glibc
#else
  internal import Darwin
#endif

/// Writes whole byte strings to a file descriptor, past short writes and interruptions.
enum DescriptorWriter {
  /// Waits when the descriptor is non-blocking and full (a terminal shared with such a program).
  static func writeAll(_ bytes: borrowing RawSpan, to descriptor: Int32) throws(SystemError) {
    var offset = 0
    while offset < bytes.byteCount {
      let count = unsafe bytes.withUnsafeBytes {
        unsafe write(descriptor, $0.baseAddress! + offset, $0.count - offset)
      }
      if count >= 0 {
        offset += count
        continue
      }
      let error = SystemError.last("write")
      switch error.code {
      case EINTR: continue
      case EAGAIN:
        var entry = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        _ = unsafe poll(&entry, 1, 1_000)
      default: throw error
      }
    }
  }

  static func isTerminal(_ descriptor: Int32) -> Bool { isatty(descriptor) == 1 }
}
