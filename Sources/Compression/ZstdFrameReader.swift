internal import CZstd
internal import Primitives

/// Reads a file of zstd frames, frame by frame, checking each one's checksum before anything of it is
/// given out: damage costs the frame it is in, not those around it. It belongs to one thread at a time.
@safe public struct ZstdFrameReader: ~Copyable {
  private let context: OpaquePointer

  public init() throws(CompressionError) {
    guard let context = unsafe ZSTD_createDCtx() else { throw .unavailable("no memory for zstd") }
    unsafe self.context = context
  }

  deinit { unsafe ZSTD_freeDCtx(context) }

  /// Appends the content of the frame that begins at `offset` of `file`.
  ///
  /// - Parameter limit: the most bytes of content; a frame that says more, or nothing, is refused before
  ///   memory is taken for it.
  /// - Returns: the offset after the frame.
  public mutating func read(
    _ file: RawSpan, at offset: Int, into output: inout [UInt8], limit: Int
  ) throws(CompressionError) -> Int {
    precondition((0...file.byteCount).contains(offset), "a frame begins inside the file")
    let rest = file.extracting(offset...)
    let end = try Self.frameBytes(rest, at: offset)
    let frame = rest.extracting(0..<end)
    let size = unsafe frame.withUnsafeBytes { frame in
      unsafe ZSTD_getFrameContentSize(frame.baseAddress, frame.count)
    }
    // The two highest values mean "not said" and "no frame".
    guard size < UInt64.max - 1 else {
      throw .damaged(offset: offset, reason: "the frame does not say how large its content is")
    }
    guard size <= UInt64(limit) else { throw .limit(bytes: limit) }
    let content = Int(size)
    let context = unsafe context
    let result = unsafe appending(upTo: content, to: &output) { space in
      unsafe frame.withUnsafeBytes { frame in
        unsafe ZSTD_decompressDCtx(
          context, space.baseAddress, content, frame.baseAddress, frame.count)
      }
    }
    guard ZSTD_isError(result) == 0 else {
      throw .damaged(offset: offset, reason: zstdReason(result))
    }
    return offset + end
  }

  /// The bytes of the frame at the start of `rest`, without decompressing it.
  private static func frameBytes(_ rest: RawSpan, at offset: Int) throws(CompressionError) -> Int {
    let result = unsafe rest.withUnsafeBytes { rest in
      unsafe ZSTD_findFrameCompressedSize(rest.baseAddress, rest.count)
    }
    guard ZSTD_isError(result) == 0 else {
      if ZSTD_getErrorCode(result) == ZSTD_error_srcSize_wrong { throw .truncated }
      throw .damaged(offset: offset, reason: zstdReason(result))
    }
    return result
  }
}
