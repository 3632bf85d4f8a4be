// `lock` (the archiver's) and `lock.maintenance` (of one process that replaces parts): held by `flock`,
// so a process that dies lets go. The content only tells who holds it: pid, blank, host name; nothing once
// it was let go. `lock.maintenance` is shared by those who need the files to stay as they are.
internal import Primitives

#if canImport(Glibc)
  internal import Glibc
#else
  internal import Darwin
#endif

/// The right to write to an archive, until this goes.
public struct ArchiveLock: ~Copyable {
  public enum Kind: String, Sendable {
    /// Adds parts, and removes files that are not in the catalogue. One for all the time it runs.
    case archiver = "lock"
    /// Replaces parts by others. Held for one piece of work.
    case maintenance = "lock.maintenance"

    fileprivate func refusal(_ directory: String, _ holder: String?) -> String {
      let process = holder.map { "process \($0)" } ?? "another process"
      return switch self {
      case .archiver: "\(directory) is in use by \(process): stop it, or take another directory"
      case .maintenance:
        "files of \(directory) are replaced or read by \(process): try again when it is done"
      }
    }
  }

  private let descriptor: Int32
  private let isShared: Bool

  /// - Throws: `.inUse`, naming the holder, when another process has it. Does not wait.
  public init(_ kind: Kind, of directory: String) throws(ArchiveError) {
    let path = "\(directory)/\(kind.rawValue)"
    let opened: Int32
    do throws(SystemError) {
      opened = try SystemError.check("open", path) {
        unsafe open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0o640)
      }
    } catch {
      throw ArchiveError(error)
    }
    guard FileLock.take(opened) else {
      let code = errno
      let holder = Self.holder(opened)
      close(opened)
      guard code == EWOULDBLOCK else {
        throw ArchiveError(SystemError(call: "flock", code: code, subject: path))
      }
      throw ArchiveError(.inUse, kind.refusal(directory, holder))
    }
    descriptor = opened
    isShared = false
    writeHolder()
  }

  /// Whether a living process has it for itself. Nothing is made or written.
  static func isHeld(_ kind: Kind, of directory: String) -> Bool {
    let opened = unsafe open(
      "\(directory)/\(kind.rawValue)", O_RDONLY | O_NOFOLLOW | O_CLOEXEC)
    guard opened >= 0 else { return false }
    defer { close(opened) }
    return flock(opened, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK
  }

  /// Keeps everybody from replacing parts, beside others who do the same: the files that the catalogue
  /// lists stay where they are. Nothing is made or written.
  ///
  /// - Throws: `.inUse` while somebody replaces parts, `.missing` where there is no such lock.
  public init(keepingFilesOf directory: String) throws(ArchiveError) {
    let path = "\(directory)/\(Kind.maintenance.rawValue)"
    let opened: Int32
    do throws(SystemError) {
      opened = try SystemError.check("open", path) {
        unsafe open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC)
      }
    } catch {
      throw ArchiveError(error)
    }
    guard flock(opened, LOCK_SH | LOCK_NB) == 0 else {
      let code = errno
      let holder = Self.holder(opened)
      close(opened)
      guard code == EWOULDBLOCK else {
        throw ArchiveError(SystemError(call: "flock", code: code, subject: path))
      }
      throw ArchiveError(.inUse, Kind.maintenance.refusal(directory, holder))
    }
    descriptor = opened
    isShared = true
  }

  /// Lets a program that this process becomes hold it on, to its end.
  public func outlivesExec() { _ = fcntl(descriptor, F_SETFD, 0) }

  deinit {
    if !isShared { _ = ftruncate(descriptor, 0) }
    close(descriptor)
  }

  private static func holder(_ descriptor: Int32) -> String? {
    var bytes = [UInt8](repeating: 0, count: 300)
    let count = unsafe pread(descriptor, &bytes, bytes.count, 0)
    let words = String(decoding: bytes.prefix(max(0, count)), as: UTF8.self).split(separator: " ")
    guard words.count == 2 else { return nil }
    return "\(words[0]) on \(words[1])"
  }

  /// On a full disk the lock holds without it: it only serves a message.
  private func writeHolder() {
    var name = [CChar](repeating: 0, count: 256)
    _ = unsafe gethostname(&name, name.count - 1)
    let letters = name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
    let host = letters.isEmpty ? "this-machine" : String(decoding: letters, as: UTF8.self)
    let text = Array("\(getpid()) \(host)".utf8)
    _ = ftruncate(descriptor, 0)
    _ = unsafe pwrite(descriptor, text, text.count, 0)
  }
}
