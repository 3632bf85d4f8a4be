internal import Primitives
internal import TestSupport
internal import Testing

#if canImport(Glibc)
  internal import Glibc
#else
  internal import Darwin
#endif

struct PrivateFileTests {
  let folder: TemporaryFolder
  var path: String { folder.file("secret") }

  init() throws { folder = try TemporaryFolder() }

  @Test func `what is written is read, by its owner alone`() throws {
    try PrivateFile.write([1, 2, 3], to: path)
    #expect(try PrivateFile.read(path) == [1, 2, 3])
    var info = stat()
    unsafe #expect(stat(path, &info) == 0)
    #expect(info.st_mode & 0o777 == 0o600)
  }

  @Test(arguments: [0o640, 0o604, 0o622, 0o666])
  func `a file that others may touch is refused, with what to do`(mode: Int) throws {
    try PrivateFile.write([1], to: path)
    unsafe #expect(chmod(path, mode_t(mode)) == 0)
    do throws(PrivateFile.Failure) {
      _ = try PrivateFile.read(path)
      Issue.record("read a file of mode \(mode)")
    } catch {
      #expect("\(error)".hasSuffix("chmod 600 \(path)"))
    }
    #expect(try PrivateFile.read(path, isSecret: false) == [1])
  }

  @Test func `a directory is named as one, whoever may enter it`() throws {
    do throws(PrivateFile.Failure) {
      _ = try PrivateFile.read("/tmp")
      Issue.record("read a directory")
    } catch {
      #expect("\(error)" == "read /tmp: Is a directory")
    }
  }

  @Test func `one that is there is replaced only when that was meant`() throws {
    try PrivateFile.write([1], to: path)
    #expect(throws: PrivateFile.Failure.exists(path: path)) {
      try PrivateFile.write([2], to: path, replacing: false)
    }
    #expect(try PrivateFile.read(path) == [1])
    try PrivateFile.write([2], to: path)
    #expect(try PrivateFile.read(path) == [2])
  }

  @Test func `a large one is refused`() throws {
    try PrivateFile.write([UInt8](repeating: 0, count: 100), to: path)
    #expect(try PrivateFile.read(path, limit: 100).count == 100)
    #expect(throws: PrivateFile.Failure.tooLarge(path: path, limit: 99)) {
      _ = try PrivateFile.read(path, limit: 99)
    }
  }

  @Test func `wiped bytes are zero`() {
    var bytes: [UInt8] = [1, 2, 3]
    bytes.wipe()
    #expect(bytes == [0, 0, 0])
  }
}
