internal import Primitives

#if canImport(Glibc)
  internal import Glibc
#else
  internal import Darwin
#endif

/// A folder for decoders that read files, in memory where the system has such a place. It goes with the
/// process, unless that is killed.
enum Scratch {
  static let folder: String = {
    let parent = unsafe access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp"
    var template = Array("\(parent)/eventbus-fuzz-XXXXXX".utf8CString)
    guard unsafe mkdtemp(&template) != nil else { preconditionFailure("no scratch folder") }
    atexit { Scratch.remove() }
    return String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }()

  /// Makes the folder `name` anew, and returns its path.
  static func folder(_ name: String) -> String {
    let path = folder + "/" + name
    remove(path)
    unsafe mkdir(path, 0o700)
    return path
  }

  /// Writes a file and removes all that is beside it.
  static func replace(_ path: String, _ bytes: [UInt8]) throws(SystemError) {
    let parent = Folders.parent(of: path) ?? folder
    remove(parent)
    try Folders.make(parent)
    try write(String(path.dropFirst(folder.count + 1)), bytes)
  }

  /// With what is in it; a folder in a folder too.
  private static func remove(_ path: String = folder) {
    guard let directory = unsafe opendir(path) else { return }
    while let entry = unsafe readdir(directory) {
      let name = unsafe withUnsafeBytes(of: entry.pointee.d_name) { bytes in
        unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
      }
      guard name != ".", name != ".." else { continue }
      if unsafe unlink(path + "/" + name) != 0 { remove(path + "/" + name) }
    }
    unsafe closedir(directory)
    unsafe rmdir(path)
  }

  /// Replaces a file, for its owner's eyes.
  static func write(_ name: String, _ bytes: [UInt8]) throws(SystemError) {
    let path = folder + "/" + name
    let file = try SystemError.check("open", path) {
      unsafe open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
    }
    defer { close(file) }
    let written = try SystemError.check("write", path) {
      unsafe bytes.withUnsafeBytes { unsafe Glibc.write(file, $0.baseAddress, $0.count) }
    }
    precondition(written == bytes.count, "the scratch disk is full")
  }
}
