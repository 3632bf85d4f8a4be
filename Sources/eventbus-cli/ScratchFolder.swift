import Primitives

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// A folder for the time of one command: made empty, readable to its owner alone, and removed with all
/// that it holds.
final class ScratchFolder {
  let path: String

  /// - Parameter base: where it is made; nil: `TMPDIR`, else /tmp.
  init(in base: String?, prefix: String, environment: [String: String]) throws {
    let base = base ?? environment["TMPDIR"] ?? "/tmp"
    var template = (base + "/" + prefix + "-XXXXXX").utf8CString.map { $0 }
    guard unsafe mkdtemp(&template) != nil else { throw SystemError.last("mkdtemp", base) }
    path = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
  }

  deinit { Self.remove(path) }

  /// What cannot be removed stays: the command's work is done all the same.
  private static func remove(_ path: String) {
    if unsafe unlink(path) == 0 { return }
    guard let folder = unsafe opendir(path) else { return }
    var names: [String] = []
    while let entry = unsafe readdir(folder) {
      let name = unsafe withUnsafeBytes(of: entry.pointee.d_name) { bytes in
        unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
      }
      if name != ".", name != ".." { names.append(name) }
    }
    unsafe closedir(folder)
    for name in names { remove(path + "/" + name) }
    _ = unsafe rmdir(path)
  }
}
