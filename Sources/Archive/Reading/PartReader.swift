internal import BusProtocol
internal import Compression
internal import Primitives

/// Reads one part frame by frame; each frame's checksum is compared before its lines are given.
///
/// Of the file there is a window of at most a few frames in memory, so memory does not grow with the
/// file. A file that is replaced or unlinked meanwhile is read to its end. One thread at a time.
struct PartReader: ~Copyable {
  /// What a frame may hold, packed and unpacked: an archive's own have 1 MiB of lines, or one long line.
  static let maximumFrameBytes = 64 << 20
  private static let chunkBytes = 512 << 10

  private let part: Part
  private let file: ReadFile
  private var zstd: ZstdFrameReader
  private var window: [UInt8] = []
  /// Where the window begins in the file, and the next frame in the window.
  private var windowStart: UInt64 = 0
  private var used = 0
  /// Where the last frame began.
  private(set) var frameStart: UInt64 = 0

  /// Opens the file of a part.
  /// - Throws: a `SystemError` whose code is ENOENT when it is not there, any more.
  init(_ directory: String, _ part: Part) throws(PartReadError) {
    let file = try Self.open(directory + "/" + part.path)
    let zstd = try Self.decompressor(for: part)
    self.part = part
    self.file = file
    self.zstd = zstd
  }

  private static func open(_ path: String) throws(PartReadError) -> ReadFile {
    do throws(SystemError) {
      return try ReadFile(path)
    } catch {
      throw PartReadError(opening: error)
    }
  }

  private static func decompressor(for part: Part) throws(PartReadError) -> ZstdFrameReader {
    do throws(CompressionError) {
      return try ZstdFrameReader()
    } catch {
      throw .failed(ArchiveError(error, file: part.path))
    }
  }

  /// Puts the next frame's lines, each with its newline, in the place of what `content` holds.
  ///
  /// - Returns: false at the end, when the file is as long as the catalogue says.
  /// - Throws: where the file is damaged; nothing behind that place is read.
  mutating func next(into content: inout [UInt8]) throws(PartDamage) -> Bool {
    content.removeAll(keepingCapacity: true)
    while true {
      frameStart = windowStart + UInt64(used)
      if used == window.count {
        guard try fill() else { return false }
      }
      do throws(CompressionError) {
        used = try Self.frame(&zstd, window, at: used, &content)
        break
      } catch .truncated {
        content.removeAll(keepingCapacity: true)
        guard window.count - used <= Self.maximumFrameBytes else {
          throw damage("no frame is as long as this one")
        }
        guard try fill() else { throw damage("the file ends in the middle of this frame") }
      } catch {
        content.removeAll(keepingCapacity: true)
        throw damage("\(error.reason)")
      }
    }
    guard content.last == UInt8(ascii: "\n") else {
      content.removeAll(keepingCapacity: true)
      throw damage("this frame does not end with a line")
    }
    return true
  }

  /// Static, since the window is read while the decompressor changes.
  private static func frame(
    _ zstd: inout ZstdFrameReader, _ window: [UInt8], at start: Int, _ content: inout [UInt8]
  ) throws(CompressionError) -> Int {
    try unsafe zstd.read(window.span.bytes, at: start, into: &content, limit: maximumFrameBytes)
  }

  private func damage(_ reason: String) -> PartDamage {
    PartDamage(file: part.path, byte: frameStart, reason: reason)
  }

  /// Reads the next piece of the file behind what the window still holds; false at the end of what the
  /// catalogue knows.
  private mutating func fill() throws(PartDamage) -> Bool {
    window.removeSubrange(..<used)
    windowStart += UInt64(used)
    used = 0
    let at = windowStart + UInt64(window.count)
    let length: UInt64
    var count = 0
    do throws(SystemError) {
      length = try file.bytes()
      if at < part.bytes {
        let most = min(UInt64(max(Self.chunkBytes, window.count)), part.bytes - at)
        count = try file.read(Int(most), at: at, into: &window)
      }
    } catch {
      throw PartDamage(file: part.path, byte: at, reason: "it cannot be read: \(error)")
    }
    if count > 0 { return true }
    if at == part.bytes, length == part.bytes { return false }
    // A file that is cut between two frames shows nowhere else.
    throw PartDamage(
      file: part.path, byte: at,
      reason: "the file has \(length) bytes, and the catalogue says \(part.bytes)")
  }
}

/// Why a part cannot be read at all.
enum PartReadError: Error {
  /// Its file is not there: another took its place, or it is lost.
  case missing
  case failed(ArchiveError)

  init(opening error: SystemError) {
    self = error.code == SystemCode.absent ? .missing : .failed(ArchiveError(error))
  }
}

extension CompressionError {
  fileprivate var reason: String {
    switch self {
    case .damaged(_, let reason): reason
    case .truncated, .limit, .unavailable: "\(self)"
    }
  }
}
