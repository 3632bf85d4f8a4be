import Compression
import Primitives

/// The lines' bytes of a file or of stdin: as they are, or unpacked when they begin as gzip does.
final class LineInput {
  /// A gzip stream that is broken or cut off, and at which of its bytes; what came before was given out.
  struct Damage: Error, CustomStringConvertible {
    var description: String
  }

  /// What is unpacked at a time: gzip makes at most a thousand bytes of one, so 16 MiB are in memory.
  private static let stepBytes = 16 << 10
  private static let limit = 64 << 20

  private let input: InputFile
  private var gunzip: GunzipStream?
  private var hasBegun = false
  /// Packed bytes that were read and not unpacked yet.
  private var packed: ArraySlice<UInt8> = []
  /// Bytes read of the file so far, as it lies there.
  private(set) var bytesRead = 0
  /// Told once what came before it is given out.
  private var damage: Damage?

  /// - Parameter path: nil is stdin.
  init(_ path: String?, interruption: Interruption) throws {
    input = try InputFile(path, interruption: interruption)
  }

  /// The path, or "stdin": said before whatever is wrong with the input as a whole.
  var name: String { input.name }
  var isPipe: Bool { input.isPipe }
  var identity: FileIdentity? { input.identity }

  /// The next bytes, never empty; nil at the end, or when the process is asked to end.
  ///
  /// - Throws: `Damage`, or what reading throws.
  func read() throws -> [UInt8]? {
    while true {
      if let damage { throw damage }
      if packed.isEmpty {
        guard var chunk = try input.read() else { return try end() }
        if !hasBegun {
          hasBegun = true
          // A pipe can bring the two bytes by which gzip is known in two pieces.
          while chunk.count < 2, let more = try input.read() { chunk += more }
          if chunk.starts(with: [0x1F, 0x8B]) { gunzip = try GunzipStream() }
        }
        bytesRead += chunk.count
        if gunzip == nil { return chunk }
        packed = chunk[...]
      }
      let lines = try unpack()
      if !lines.isEmpty { return lines }
    }
  }

  private func unpack() throws -> [UInt8] {
    let step = Array(packed.prefix(Self.stepBytes))
    packed = packed.dropFirst(step.count)
    var lines: [UInt8] = []
    do throws(CompressionError) {
      try unsafe gunzip?.read(step.span.bytes, into: &lines, limit: Self.limit)
    } catch {
      damage = Damage(description: "gzip, \(error)")
    }
    return lines
  }

  private func end() throws -> [UInt8]? {
    // Stopped by a signal a stream is not whole either, and nobody's fault.
    guard !input.wasInterrupted else { return nil }
    do throws(CompressionError) {
      try gunzip?.finish()
    } catch {
      throw Damage(description: "gzip, cut off at byte \(bytesRead)")
    }
    return nil
  }
}
