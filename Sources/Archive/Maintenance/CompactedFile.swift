internal import Compression
internal import Hashing
internal import Primitives

#if canImport(Glibc)
  internal import Glibc
#else
  internal import Darwin
#endif

/// The file that a compaction writes, under a temporary name until it is finished.
///
/// Frames that are full enough are taken as they are; the lines of small ones are put together and
/// compressed anew, so that a large part does not consist of a thousand small frames.
struct CompactedFile: ~Copyable {
  /// Lines a frame of our own has, and from which on another's is taken as it is.
  static let frameBytes = 1 << 20
  private static let fullEnough = frameBytes / 2

  let temporaryPath: String
  private let descriptor: Int32
  private var zstd: ZstdFrameWriter
  private var sha = SHA256()
  /// Lines that are not compressed yet.
  private var pending: [UInt8] = []
  /// Bytes that are not written yet.
  private var output: [UInt8] = []
  private(set) var bytes: UInt64 = 0
  private(set) var rawBytes: UInt64 = 0
  private(set) var count: UInt64 = 0

  init(_ temporaryPath: String) throws(ArchiveError) {
    let zstd: ZstdFrameWriter
    do throws(CompressionError) {
      zstd = try ZstdFrameWriter()
    } catch {
      throw ArchiveError(error, file: temporaryPath)
    }
    do throws(SystemError) {
      descriptor = try SystemError.check("open", temporaryPath) {
        unsafe open(temporaryPath, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o640)
      }
    } catch {
      throw ArchiveError(error)
    }
    self.zstd = zstd
    self.temporaryPath = temporaryPath
  }

  deinit { close(descriptor) }

  /// Adds a frame: its lines, and the same as it stands in its file.
  mutating func add(lines: [UInt8], frame: [UInt8]) throws(ArchiveError) {
    rawBytes += UInt64(lines.count)
    count += UInt64(lines.count(where: { $0 == UInt8(ascii: "\n") }))
    if lines.count >= Self.fullEnough {
      try compressPending()
      output += frame
    } else {
      pending += lines
      if pending.count >= Self.frameBytes { try compressPending() }
    }
    if output.count >= Self.frameBytes { try write() }
  }

  /// Makes the file durable; returns its SHA-256.
  mutating func finish() throws(ArchiveError) -> [UInt8] {
    try compressPending()
    try write()
    guard fsync(descriptor) == 0 else { throw ArchiveError(.last("fsync", temporaryPath)) }
    var sha = SHA256()
    swap(&sha, &self.sha)
    return sha.digest()
  }

  private mutating func compressPending() throws(ArchiveError) {
    guard !pending.isEmpty else { return }
    do throws(CompressionError) {
      try Self.compress(pending, &zstd, &output)
    } catch {
      throw ArchiveError(error, file: temporaryPath)
    }
    pending.removeAll(keepingCapacity: true)
  }

  /// Static, since the lines are read while the compressor changes.
  private static func compress(
    _ lines: [UInt8], _ zstd: inout ZstdFrameWriter, _ output: inout [UInt8]
  ) throws(CompressionError) {
    try unsafe zstd.compress(lines.span.bytes, into: &output)
  }

  private mutating func write() throws(ArchiveError) {
    guard !output.isEmpty else { return }
    Self.update(&sha, output)
    var at = 0
    while at < output.count {
      let start = at
      do throws(SystemError) {
        at += try SystemError.check("write", temporaryPath) {
          unsafe output.withUnsafeBytes { bytes in
            let rest = unsafe UnsafeRawBufferPointer(rebasing: bytes[start...])
            return unsafe writeBytes(descriptor, rest)
          }
        }
      } catch {
        throw ArchiveError(error)
      }
    }
    bytes += UInt64(output.count)
    output.removeAll(keepingCapacity: true)
  }

  private static func update(_ sha: inout SHA256, _ bytes: [UInt8]) {
    unsafe sha.update(bytes.span.bytes)
  }
}

/// `write(2)`, under a name that no method hides.
private func writeBytes(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
  unsafe write(descriptor, bytes.baseAddress, bytes.count)
}
