// Whether a directory's files are those that the journal made there, or a copy that somebody put in their
// place: a backup, or what came from another machine. Two files beside the segments:
//
//   origin.mark   empty, and touched by nobody once it is there
//   origin        which file the mark is, as text: inode, and its last change in nanoseconds since 1970
//
// A copy of the mark is another file, or changed later, whatever it was copied with. What was copied may be
// older than what subscribers have read, and offsets would come to mean other events: hence a new epoch.
public import Primitives

#if canImport(Glibc)
  internal import Glibc
#else
  internal import Darwin
#endif

extension DirectoryStorage {
  private static let origin = "origin"
  private static let mark = "origin.mark"

  public func isCopy() throws(SystemError) -> Bool {
    do throws(SystemError) {
      let known = try open(Self.origin, forWriting: false).read(64, at: 0)
      return try known != identity(of: open(Self.mark, forWriting: false))
    } catch {
      guard error.code == ENOENT else { throw error }
      return true
    }
  }

  public func claim() throws(SystemError) {
    do throws(SystemError) {
      try remove(Self.mark)
    } catch {
      guard error.code == ENOENT else { throw error }
    }
    // A crash in between leaves what counts as a copy: an epoch more, and nothing worse.
    let identity = try identity(of: create(Self.mark))
    let file = try create(Self.origin)
    try file.write(identity, at: 0)
    try file.synchronize()
    try synchronizeDirectory()
  }

  private func identity(of file: DirectoryFile) throws(SystemError) -> [UInt8] {
    let status = try file.status()
    #if canImport(Glibc)
      let changed = status.st_ctim
    #else
      let changed = status.st_ctimespec
    #endif
    let nanoseconds = Int64(changed.tv_sec) * 1_000_000_000 + Int64(changed.tv_nsec)
    return Array("\(status.st_ino) \(nanoseconds)".utf8)
  }
}
