internal import BusProtocol
internal import Compression
internal import Hashing
internal import Primitives

#if canImport(Glibc)
  internal import Glibc
#else
  internal import Darwin
#endif

/// A file that is complete and durable under its temporary name.
struct FinishedFile: Hashable, Sendable {
  /// Below the archive's directory.
  var folder: String
  var temporaryName: String
  var size: PartSize
  var sha256: [UInt8]
}

/// Writes one part under a temporary name: lines are collected to frames of about 1 MiB, compressed and
/// written one by one. It belongs to one thread.
///
/// A file that is not finished stays where it is when this goes; `discard` removes it.
struct PartWriter: ~Copyable {
  /// Bytes of lines in a frame: what a reader holds at a time, and what damage costs at most.
  static let frameBytes = 1 << 20

  private let directory: String
  let folder: String
  private let temporaryName: String
  private let descriptor: Int32
  private var compressor: ZstdFrameWriter
  private var hash = SHA256()
  private var compressed: [UInt8] = []
  /// Lines of the frame that is not written yet; who appends calls `endLine`.
  private var lines: [UInt8] = []
  /// What is written.
  private var size = PartSize()

  /// Makes the file, and its folders where they are missing.
  init(directory: String, folder: String, name: String) throws(ArchiveError) {
    let temporaryName = ArchiveNames.temporaryPrefix + name
    do throws(SystemError) {
      try Self.makeFolders(directory, folder)
      let path = "\(directory)/\(folder)/\(temporaryName)"
      let compressor: ZstdFrameWriter
      do throws(CompressionError) {
        compressor = try ZstdFrameWriter(level: 1)
      } catch {
        throw SystemError(call: "zstd (\(error))", code: ENOMEM, subject: path)
      }
      descriptor = try SystemError.check("open", path) {
        unsafe open(path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0o640)
      }
      self.directory = directory
      self.folder = folder
      self.temporaryName = temporaryName
      self.compressor = compressor
      lines.reserveCapacity(Self.frameBytes + (64 << 10))
    } catch {
      throw ArchiveError(error)
    }
  }

  deinit { close(descriptor) }

  private static func makeFolders(_ directory: String, _ folder: String) throws(SystemError) {
    var path = directory
    for name in folder.split(separator: "/") {
      let above = path
      path += "/\(name)"
      if try FileSystem.makeFolder(path) { try FileSystem.synchronize(folder: above) }
    }
  }

  private var path: String { "\(directory)/\(folder)/\(temporaryName)" }

  /// Appends an event's line to the frame, its newline included.
  mutating func append(line: RawSpan) { lines.append(line) }

  @inline(__always)
  mutating func append(line: [UInt8]) { lines.append(contentsOf: line) }

  /// Writes the frame if it is full.
  ///
  /// - Returns: the part's size when it was.
  @inline(__always)
  mutating func endLine() throws(ArchiveError) -> PartSize? {
    guard lines.count >= Self.frameBytes else { return nil }
    try writeFrame()
    return size
  }

  private mutating func writeFrame() throws(ArchiveError) {
    // Taken out of `self` for the time: spans of several of its arrays cannot be lent at once.
    var (block, frame): ([UInt8], [UInt8]) = ([], [])
    swap(&block, &lines)
    swap(&frame, &compressed)
    frame.removeAll(keepingCapacity: true)
    do throws(CompressionError) {
      try unsafe compressor.compress(block.span.bytes, into: &frame)
    } catch {
      throw ArchiveError(error, file: path)
    }
    try unsafe writeAll(frame.span.bytes)
    unsafe hash.update(frame.span.bytes)
    size.bytes += UInt64(frame.count)
    size.rawBytes += UInt64(block.count)
    block.removeAll(keepingCapacity: true)
    swap(&block, &lines)
    swap(&frame, &compressed)
  }

  private func writeAll(_ frame: RawSpan) throws(ArchiveError) {
    var written = 0
    do throws(SystemError) {
      while written < frame.byteCount {
        written += try SystemError.check("write", path) {
          unsafe frame.withUnsafeBytes { buffer in
            unsafe write(descriptor, buffer.baseAddress! + written, buffer.count - written)
          }
        }
      }
    } catch {
      throw ArchiveError(error)
    }
  }

  /// Writes what is left and makes the file durable.
  consuming func finish() throws(ArchiveError) -> FinishedFile {
    if !lines.isEmpty { try writeFrame() }
    // Not through the funnel: a sync is never repeated, not even after a signal.
    guard fdatasync(descriptor) == 0 else {
      throw ArchiveError(SystemError.last("fdatasync", path))
    }
    let digest = digest()
    return FinishedFile(
      folder: folder, temporaryName: temporaryName, size: size, sha256: digest)
  }

  private mutating func digest() -> [UInt8] {
    var taken = SHA256()
    swap(&taken, &hash)
    return taken.digest()
  }

  /// Removes the file. What cannot be removed goes at the next start.
  consuming func discard() { _ = unsafe unlink(path) }
}

extension FinishedFile {
  /// Gives the file its name, and makes that durable.
  func publish(as path: String, in directory: String) throws(ArchiveError) {
    do throws(SystemError) {
      try FileSystem.move(
        "\(directory)/\(folder)/\(temporaryName)", to: "\(directory)/\(path)")
      try FileSystem.synchronize(folder: "\(directory)/\(folder)")
    } catch {
      throw ArchiveError(error)
    }
  }
}
