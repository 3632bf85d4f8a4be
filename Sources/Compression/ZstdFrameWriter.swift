internal import CZstd
internal import Primitives

/// Compresses blocks of bytes, each to a zstd frame (RFC 8878) that can be read without the others: it
/// says how large its content is, and ends with the content's checksum.
///
/// Frames one after another are a zstd file. One frame a call needs no window between calls, which makes
/// it the fastest way through the library. It belongs to one thread at a time.
@safe public struct ZstdFrameWriter: ~Copyable {
  private let context: OpaquePointer

  /// - Parameter level: zstd's level, 1 (fast) to 19 (small).
  public init(level: Int32 = 1) throws(CompressionError) {
    guard let context = unsafe ZSTD_createCCtx() else { throw .unavailable("no memory for zstd") }
    let results = unsafe [
      ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, level),
      ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1),
    ]
    for result in results where ZSTD_isError(result) != 0 {
      unsafe ZSTD_freeCCtx(context)
      throw .unavailable(zstdReason(result))
    }
    unsafe self.context = context
  }

  deinit { unsafe ZSTD_freeCCtx(context) }

  /// Appends one frame that holds `input`.
  public mutating func compress(
    _ input: RawSpan, into output: inout [UInt8]
  ) throws(CompressionError) {
    let most = ZSTD_compressBound(input.byteCount)
    let context = unsafe context
    let result = unsafe appending(upTo: most, to: &output) { space in
      unsafe input.withUnsafeBytes { input in
        unsafe ZSTD_compress2(context, space.baseAddress, most, input.baseAddress, input.count)
      }
    }
    guard ZSTD_isError(result) == 0 else { throw .unavailable(zstdReason(result)) }
  }
}

func zstdReason(_ result: Int) -> String { unsafe String(cString: ZSTD_getErrorName(result)) }
