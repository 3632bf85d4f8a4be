#if canImport(Glibc)
  internal import Glibc
#else
  internal import Darwin
#endif

/// The lock by which one process at a time has a directory: flock(2) of a file in it, as long as that is open.
public enum FileLock {
  private static let tries = 50

  /// Takes it for this open file alone; false, with `EWOULDBLOCK` in errno, while another has it.
  ///
  /// Waits half a second before it says so, since some have it for a moment only: one who ends now, one who
  /// looks whether it is held, and a child of this process between its fork and its exec.
  public static func take(_ descriptor: Int32) -> Bool {
    for _ in 0..<tries {
      if flock(descriptor, LOCK_EX | LOCK_NB) == 0 { return true }
      guard errno == EWOULDBLOCK else { return false }
      _ = poll(nil, 0, 10)
    }
    return flock(descriptor, LOCK_EX | LOCK_NB) == 0
  }
}
