internal import Primitives

#if canImport(Glibc)
  internal import Glibc
#else
  internal import Darwin
#endif

/// An empty file beside the service's store that says: this person does not want to be tracked.
///
/// The store says so too. But it may be damaged, in another process's hands, or not readable while a phone
/// is locked; that a file is there can be seen always, and before the first event.
struct OptOutMark: Sendable {
  private let path: String?

  /// - Parameter storePath: nil where nothing is kept.
  init(storePath: String?) { path = storePath.map { $0 + ".optout" } }

  var isSet: Bool { path.flatMap { FileStamp($0) } != nil }

  func set(_ isOptedOut: Bool) throws(PrivateFile.Failure) {
    guard let path, isOptedOut != isSet else { return }
    if isOptedOut {
      try PrivateFile.write([], to: path)
    } else if unsafe unlink(path) != 0, errno != ENOENT {
      throw .system(.last("unlink", path))
    }
  }
}
