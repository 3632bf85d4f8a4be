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

  private static let files = ["catalogue.sqlite", "part", "key"].flatMap {
    [$0, $0 + "-wal", $0 + "-shm"]
  }

  private static func remove() {
    for file in files { unsafe unlink(folder + "/" + file) }
    unsafe rmdir(folder)
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
