internal import Foundation
internal import Primitives

#if canImport(Glibc)
  internal import Glibc
#else
  internal import Darwin
#endif

/// What the system tells of a process.
enum ProcessFiles {
  /// User and system seconds of a running process; 0 when it is not there.
  static func cpuSeconds(of id: Int32) -> Double {
    guard let file = unsafe fopen("/proc/\(id)/stat", "r") else { return 0 }
    defer { unsafe fclose(file) }
    var bytes = [UInt8](repeating: 0, count: 1024)
    let count = unsafe fread(&bytes, 1, bytes.count, file)
    // The name, in brackets, may hold blanks.
    let text = String(decoding: bytes.prefix(count), as: UTF8.self)
    guard let end = text.lastIndex(of: ")") else { return 0 }
    let fields = text[end...].split(separator: " ")
    guard fields.count > 13, let user = Double(fields[12]), let system = Double(fields[13]) else {
      return 0
    }
    return (user + system) / Double(sysconf(Int32(_SC_CLK_TCK)))
  }

  static func pause(milliseconds: Int32) { _ = poll(nil, 0, milliseconds) }

  /// 0 when it is not there.
  static func residentBytes(of id: Int32) -> Int {
    guard let file = unsafe fopen("/proc/\(id)/statm", "r") else { return 0 }
    defer { unsafe fclose(file) }
    var bytes = [UInt8](repeating: 0, count: 256)
    let count = unsafe fread(&bytes, 1, bytes.count, file)
    let fields = String(decoding: bytes.prefix(count), as: UTF8.self).split(separator: " ")
    return fields.count > 1 ? (Int(fields[1]) ?? 0) * Int(sysconf(Int32(_SC_PAGESIZE))) : 0
  }

  /// Makes a folder and those above it, where they are missing.
  static func makeFolder(_ path: String) throws {
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
  }

  /// Free for this user where a folder is; 0 when it is not there.
  static func freeBytes(_ folder: String) -> Int {
    var facts = statvfs()
    guard unsafe statvfs(folder, &facts) == 0 else { return 0 }
    return Int(facts.f_bavail) * Int(facts.f_frsize)
  }

  /// Of all files in a folder.
  static func bytes(in folder: String) -> Int {
    files(in: folder).reduce(0) { sum, path in
      var facts = stat()
      return unsafe stat(path, &facts) == 0 ? sum + Int(facts.st_size) : sum
    }
  }

  /// Asks the system to forget what it holds of the files in a folder; all of it must be on disk already.
  static func dropPages(of folder: String) {
    #if canImport(Glibc)
      for path in files(in: folder) {
        let descriptor = unsafe open(path, O_RDONLY)
        guard descriptor >= 0 else { continue }
        _ = posix_fadvise(descriptor, 0, 0, POSIX_FADV_DONTNEED)
        close(descriptor)
      }
    #endif
  }

  private static func files(in folder: String) -> [String] {
    let items = FileManager.default.enumerator(atPath: folder)
    var found: [String] = []
    while let name = items?.nextObject() as? String { found.append("\(folder)/\(name)") }
    return found
  }
}

/// A folder below another one, gone with this object.
final class TemporaryData {
  let path: String

  init(_ folder: String) throws {
    var template = Array("\(folder)/data-XXXXXX".utf8CString)
    guard unsafe mkdtemp(&template) != nil else { throw SystemError.last("mkdtemp", folder) }
    path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  deinit {
    do { try FileManager.default.removeItem(atPath: path) } catch { report("\(path): \(error)") }
  }
}
