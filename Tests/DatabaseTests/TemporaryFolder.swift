internal import Primitives

#if canImport(Glibc)
  internal import Glibc
#else
  internal import Darwin
#endif

/// A directory for one test's databases; it goes with the last reference.
final class TemporaryFolder: Sendable {
  let path: String

  init() throws {
    let path = "/tmp/eventbus-database-\(getpid())-\(UInt64.random(in: .min ... .max))"
    try SystemError.check("mkdir", path) { unsafe mkdir(path, 0o700) }
    self.path = path
  }

  func file(_ name: String) -> String { "\(path)/\(name)" }

  func copy(_ source: String, to target: String) throws {
    let file = try SystemError.check("open", source) { unsafe open(source, O_RDONLY) }
    defer { close(file) }
    var bytes = [UInt8](repeating: 0, count: 1 << 20)
    let count = try SystemError.check("read", source) { unsafe read(file, &bytes, bytes.count) }
    precondition(count < bytes.count, "\(source) is larger than a test's database")
    try store(Array(bytes.prefix(count)), in: target)
  }

  func store(_ bytes: [UInt8], in target: String) throws {
    let file = try SystemError.check("open", target) {
      unsafe open(target, O_WRONLY | O_CREAT, 0o600)
    }
    defer { close(file) }
    try SystemError.check("write", target) { unsafe write(file, bytes, bytes.count) }
  }

  deinit {
    for name in ["test", "other", "crash", "noise"] {
      for suffix in ["", "-wal", "-shm"] { unsafe unlink(file("\(name).db\(suffix)")) }
    }
    // Fails when a test left something else: /tmp shows it.
    unsafe rmdir(path)
  }
}
