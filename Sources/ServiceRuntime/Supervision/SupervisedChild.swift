internal import CPlatform

#if canImport(Glibc)
  internal import Glibc
#else
  internal import Darwin
#endif

/// The child's side of `Supervisor`.
public enum SupervisedChild {
  /// Ties this process to the supervisor that started it, if one did: the kernel then sends SIGTERM
  /// when the supervisor dies, so that no service is left behind. Call it first in `main`.
  ///
  /// Returns false when the supervisor is gone already; the caller then ends at once.
  public static func begin(environment: [String: String]) -> Bool {
    guard environment["EVENTBUS_SUPERVISED"] == "1" else { return true }
    eb_die_with_parent(SIGTERM)
    // It may have died before the line above. In a container it may be process 1, so 1 proves
    // nothing.
    guard let supervisor = environment["EVENTBUS_SUPERVISOR"].flatMap({ Int32($0) }) else {
      return true
    }
    return getppid() == supervisor
  }
}
