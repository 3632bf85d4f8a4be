#if canImport(Glibc)
  internal import Glibc
#else
  internal import Darwin
#endif

/// Who may read what this program makes: journal, archive, reports, dead letters and spools are full of people.
public enum FileModes {
  /// From now on new files and directories are for their user alone (0600, 0700). An umask that keeps others
  /// out already is somebody's choice and stays, as 027, which lets a group in. Call it at the start: the
  /// umask is the whole process's, and its children's.
  public static func keepOthersOut() {
    let given = umask(0o077)
    if given & others == others { _ = umask(given) }
  }

  /// Whether users who are neither owner nor in the group may read or enter it; nil where it is not there.
  public static func isOpenToOthers(_ path: String) -> Bool? {
    var info = stat()
    guard unsafe stat(path, &info) == 0 else { return nil }
    return mode_t(info.st_mode) & others != 0
  }

  private static let others: mode_t = 0o007
}
