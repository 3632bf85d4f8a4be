internal import CPlatform

#if canImport(Glibc)
  internal import Glibc
#else
  internal import Darwin
#endif

/// The child's side of `Supervisor`.
public enum SupervisedChild {
  /// The line on stdout by which a child says that another start would end as this one.
  static let finalLine = "final"

  /// Tells the supervisor, if there is one, not to try again. Once the service was ready it tries all the same:
  /// what is in the way then came later, and may go.
  public static func sayFinal(environment: [String: String]) {
    guard environment["EVENTBUS_SUPERVISED"] == "1" else { return }
    // A supervisor that is gone has nothing to be told.
    _ = unsafe write(1, finalLine + "\n", finalLine.utf8.count + 1)
  }

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
