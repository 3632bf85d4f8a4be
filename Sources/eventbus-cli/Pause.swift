#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// Waiting for time alone, on a thread of one's own.
enum Pause {
  static func wait(milliseconds: Int32) { _ = poll(nil, 0, milliseconds) }
}
