internal import Primitives

#if canImport(Glibc)
  internal import Glibc
#else
  internal import Darwin
#endif

/// A file that is open for reading; closed with its owner.
struct ReadFile: ~Copyable {
  private let descriptor: Int32
  private let path: String

  init(_ path: String) throws(SystemError) {
    descriptor = try SystemError.check("open", path) { unsafe open(path, O_RDONLY | O_CLOEXEC) }
    self.path = path
  }

  deinit { close(descriptor) }

  /// How long it is now.
  func bytes() throws(SystemError) -> UInt64 {
    var status = stat()
    try SystemError.check("fstat", path) { unsafe fstat(descriptor, &status) }
    return UInt64(status.st_size)
  }

  /// Appends up to `count` bytes from `offset` on; returns how many, 0 at the end.
  func read(
    _ count: Int, at offset: UInt64, into bytes: inout [UInt8]
  ) throws(SystemError) -> Int {
    // No more space than there is file: a short file is read as often as a long one.
    let length = try self.bytes()
    let wanted = offset < length ? Int(min(UInt64(count), length - offset)) : 0
    var result = Result<Int, SystemError>.success(0)
    let piece = unsafe [UInt8](unsafeUninitializedCapacity: wanted) { space, used in
      result = Result { () throws(SystemError) -> Int in
        try SystemError.check("pread", path) {
          unsafe pread(descriptor, space.baseAddress, wanted, off_t(offset))
        }
      }
      if case .success(let count) = result { used = count }
    }
    bytes.append(contentsOf: piece)
    return try result.get()
  }
}
