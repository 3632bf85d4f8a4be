#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// Standard input, output and error of a process that was started with some of them closed.
enum StandardFiles {
  /// Opens /dev/null in the place of each that is closed: else the next file, a socket or the journal
  /// itself, would take its number, and get what is printed.
  static func ensure() {
    for descriptor: Int32 in 0...2 where fcntl(descriptor, F_GETFD) < 0 {
      // The lowest free number is this one, since those below are open by now.
      _ = unsafe open("/dev/null", O_RDWR)
    }
  }
}
