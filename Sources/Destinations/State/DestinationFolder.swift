// What a destination keeps, below the data directory:
//
//   destinations/NAME/state.sqlite            cursor, ledger, dead letters, forgotten people, status
//   destinations/NAME/lock                    held by the running publisher; its process id
//   destinations/NAME/damaged-TIME.sqlite     a state file that could not be read, moved aside whole
//
// NAME has each byte but letters, digits, `-`, `_` and `.` (not in front) as %XX.
internal import Database
public import Primitives

#if canImport(Glibc)
  internal import Glibc
#else
  internal import Darwin
#endif

/// Where a destination's state is.
public struct DestinationFolder: Hashable, Sendable {
  public let path: String

  /// - Parameters:
  ///   - data: the data directory.
  ///   - name: the destination's name, which is its subscriber's name too.
  public init(data: String, name: String) {
    path = Self.root(data) + "/" + Self.fileName(name)
  }

  public var stateFile: String { path + "/state.sqlite" }
  var lockFile: String { path + "/lock" }

  static func root(_ data: String) -> String { data + "/destinations" }

  static func fileName(_ name: String) -> String {
    var text = ""
    for (index, byte) in name.utf8.enumerated() {
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
        text.unicodeScalars.append(Unicode.Scalar(byte))
      case UInt8(ascii: ".") where index > 0: text += "."
      default:
        let digits = String(byte, radix: 16, uppercase: true)
        text += "%" + (digits.utf8.count == 1 ? "0" : "") + digits
      }
    }
    return text
  }

  /// The destinations of a data directory that have a state, by their folders' names, in order.
  public static func all(data: String) -> [DestinationFolder] {
    guard let directory = unsafe opendir(root(data)) else { return [] }
    defer { unsafe closedir(directory) }
    var found: [DestinationFolder] = []
    while let entry = unsafe readdir(directory) {
      let name = unsafe withUnsafeBytes(of: entry.pointee.d_name) { bytes in
        unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
      }
      let folder = DestinationFolder(path: root(data) + "/" + name)
      if !name.hasPrefix("."), folder.hasState { found.append(folder) }
    }
    return found.sorted { $0.path.utf8.lexicographicallyPrecedes($1.path.utf8) }
  }

  private init(path: String) { self.path = path }

  /// The last part of its path.
  public var folderName: String {
    String(decoding: path.utf8.split(separator: UInt8(ascii: "/")).last ?? [], as: UTF8.self)
  }

  public var hasState: Bool { unsafe access(stateFile, F_OK) == 0 }

  /// Whether a publisher runs here at this moment.
  public var isInUse: Bool {
    let file = unsafe open(lockFile, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { return false }
    defer { close(file) }
    return flock(file, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK
  }

  /// Makes the folder and what is missing above it.
  public func create() throws(SystemError) { try Folders.make(path) }

  /// Moves the state file and what SQLite has beside it aside; returns the new path.
  func moveStateAside(at time: Timestamp) throws(SystemError) -> String {
    let aside = path + "/damaged-" + time.text + ".sqlite"
    try DatabaseFiles.moveAside(stateFile, to: aside)
    return aside
  }
}

/// The publisher's hold on its folder, for as long as it lives.
public struct DestinationLock: ~Copyable {
  private let descriptor: Int32

  public enum Failure: Error, Hashable, Sendable, CustomStringConvertible {
    case inUse(path: String, holder: String)
    case system(SystemError)

    public var description: String {
      switch self {
      case .inUse(let path, let holder):
        "\(path) is in use by another publisher\(holder.isEmpty ? "" : " (process \(holder))")"
      case .system(let error): "\(error)"
      }
    }
  }

  public init(_ folder: DestinationFolder) throws(Failure) {
    let file = unsafe open(folder.lockFile, O_RDWR | O_CREAT | O_CLOEXEC, 0o640)
    guard file >= 0 else { throw .system(.last("open", folder.lockFile)) }
    guard FileLock.take(file) else {
      let code = errno
      var bytes = [UInt8](repeating: 0, count: 20)
      let count = unsafe max(0, pread(file, &bytes, bytes.count, 0))
      close(file)
      guard code == EWOULDBLOCK else {
        throw .system(SystemError(call: "flock", code: code, subject: folder.lockFile))
      }
      throw .inUse(path: folder.path, holder: String(decoding: bytes[..<count], as: UTF8.self))
    }
    let text = Array(String(getpid()).utf8)
    // The number only serves a message.
    if ftruncate(file, 0) == 0 { _ = unsafe pwrite(file, text, text.count, 0) }
    descriptor = file
  }

  deinit { close(descriptor) }
}
