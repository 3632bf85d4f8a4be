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
  /// Where the last frame began in the file, and in the window.
  private(set) var frameStart: UInt64 = 0
  private var frameBegin = 0

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
  /// - Throws: where the file is damaged; `skipToNextFrame` goes on behind that place.
  mutating func next(into content: inout [UInt8]) throws(PartDamage) -> Bool {
    content.removeAll(keepingCapacity: true)
    while true {
      frameStart = windowStart + UInt64(used)
      frameBegin = used
      if used == window.count {
        guard try fill() else { return false }
        frameBegin = used
      }
      do throws(CompressionError) {
        used = try Self.frame(&zstd, window, at: used, &content)
        break
      } catch .truncated {
        content.removeAll(keepingCapacity: true)
        guard window.count - used <= Self.maximumFrameBytes else {
          throw damage("no frame is as long as this one")
        }
        try fillFrame()
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

  /// After damage: goes to the next place that looks like a frame's beginning; false when there is none.
  mutating func skipToNextFrame() -> Bool {
    used = min(used + 1, window.count)
    while true {
      while used + Self.frameMagic.count <= window.count {
        if window[used..<used + Self.frameMagic.count].elementsEqual(Self.frameMagic) {
          return true
        }
        used += 1
      }
      do throws(PartDamage) {
        guard try fill() else { return false }
      } catch {
        return false
      }
    }
  }

  /// The first bytes of a zstd frame (RFC 8878).
  private static let frameMagic: [UInt8] = [0x28, 0xB5, 0x2F, 0xFD]

  /// Static, since the window is read while the decompressor changes.
  private static func frame(
    _ zstd: inout ZstdFrameReader, _ window: [UInt8], at start: Int, _ content: inout [UInt8]
  ) throws(CompressionError) -> Int {
    try unsafe zstd.read(window.span.bytes, at: start, into: &content, limit: maximumFrameBytes)
  }

  /// Bytes of the last frame in the file.
  var frameBytes: Int { used - frameBegin }

  /// The last frame as it stands in the file.
  var frame: [UInt8] { Array(window[frameBegin..<used]) }

  private func damage(_ reason: String) -> PartDamage {
    PartDamage(file: part.path, byte: frameStart, reason: reason)
  }

  /// Reads on where the window ends in the middle of a frame.
  private mutating func fillFrame() throws(PartDamage) {
    let isMore: Bool
    do throws(PartDamage) {
      isMore = try fill()
    } catch {
      throw damage("this frame has no end: \(error.reason)")
    }
    guard isMore else { throw damage("this frame has no end") }
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
      reason: "the file has \(length.counted("byte")), and the catalogue says \(part.bytes)")
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
    case .damaged(_, let reason):
      "this frame cannot be unpacked, its bytes were changed or lost (zstd: \(reason))"
    case .truncated, .limit, .unavailable: "\(self)"
    }
  }
}
