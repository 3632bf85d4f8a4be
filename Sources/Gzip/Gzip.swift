internal import CZlib
internal import Primitives

/// Compresses to gzip (RFC 1952).
public enum Gzip {
  /// Appends one gzip member that holds `input`.
  ///
  /// - Parameter level: zlib's level, 1 (fast) to 9 (small).
  public static func compress(
    _ input: RawSpan, level: Int32 = 6, into output: inout [UInt8]
  ) throws(CompressionError) {
    var stream = unsafe z_stream()
    guard unsafe eb_deflate_init_gzip(&stream, level) == Z_OK else {
      throw .unavailable("zlib refuses level \(level), or has no memory")
    }
    defer { unsafe deflateEnd(&stream) }
    guard let count = UInt32(exactly: input.byteCount) else {
      throw .unavailable("\(input.byteCount) bytes are too many for one gzip member")
    }
    let most = unsafe Int(deflateBound(&stream, UInt(count)))
    var code = Z_OK
    _ = unsafe appending(upTo: most, to: &output) { space in
      unsafe input.withUnsafeBytes { input in
        unsafe stream.next_in = UnsafeMutablePointer(
          mutating: input.baseAddress?.assumingMemoryBound(to: UInt8.self))
        unsafe stream.avail_in = count
        unsafe stream.next_out = space.baseAddress?.assumingMemoryBound(to: UInt8.self)
        unsafe stream.avail_out = UInt32(clamping: most)
        code = unsafe deflate(&stream, Z_FINISH)
        return unsafe Int(stream.total_out)
      }
    }
    guard code == Z_STREAM_END else { throw .unavailable("zlib ended with code \(code)") }
  }
}
