internal import EventJournal
internal import Primitives
internal import Testing

#if canImport(Glibc)
  internal import Glibc
#else
  internal import Darwin
#endif

/// A directory of its own for a test on the real file system; gone with the last reference.
final class TemporaryDirectory: Sendable {
  let path: String

  init() throws {
    path = "/tmp/eventbus-journal-\(getpid())-\(UInt64.random(in: .min ... .max))"
    _ = try DirectoryStorage(creating: path)
  }

  var storage: DirectoryStorage { DirectoryStorage(path: path) }

  deinit {
    do {
      for name in try storage.list() { try storage.remove(name) }
      unsafe rmdir(path)
    } catch {
      Issue.record("cannot clean \(path): \(error)")
    }
  }
}
