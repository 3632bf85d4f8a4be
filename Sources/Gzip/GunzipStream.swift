internal import CZlib
internal import Primitives

/// Decompresses gzip (RFC 1952) as it arrives. Members one after another are one stream, as the format
/// says; anything else after a member is damage. It belongs to one thread at a time.
@safe public struct GunzipStream: ~Copyable {
  /// zlib keeps the stream's address, so that it must stay where it is.
  private let stream: UnsafeMutablePointer<z_stream>
  private var consumed = 0
  /// Between members: at the very start, or behind a whole one.
  private var isBetween = true

  public init() throws(CompressionError) {
    let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
    unsafe stream.initialize(to: z_stream())
    guard unsafe eb_inflate_init_gzip(stream) == Z_OK else {
      unsafe stream.deallocate()
      throw .unavailable("zlib has no memory")
    }
    unsafe self.stream = stream
  }

  deinit {
    unsafe inflateEnd(stream)
    unsafe stream.deallocate()
  }

  /// Appends what `input` holds.
  ///
  /// - Parameter limit: the most bytes that `output` may have afterwards. At the limit it throws, so
  ///   that a bomb costs no more memory than the limit.
  public mutating func read(
    _ input: RawSpan, into output: inout [UInt8], limit: Int
  ) throws(CompressionError) {
    var at = 0
    while at < input.byteCount {
      if isBetween, consumed > 0 {
        unsafe inflateReset(stream)
      }
      isBetween = false
      at += try step(input.extracting(at...), into: &output, limit: limit)
    }
  }

  /// Throws where the last member is cut off, or there was none.
  public func finish() throws(CompressionError) {
    guard isBetween, consumed > 0 else { throw .truncated }
  }

  /// One call of zlib; returns how many bytes it took.
  private mutating func step(
    _ input: RawSpan, into output: inout [UInt8], limit: Int
  ) throws(CompressionError) -> Int {
    let room = limit - output.count
    // One byte more than is allowed tells content that ends at the limit from content that goes on.
    let space = min(room + 1, Self.stepBytes)
    let stream = unsafe stream
    var code = Z_OK
    var taken = 0
    let made = unsafe appending(upTo: space, to: &output) { target in
      unsafe input.withUnsafeBytes { input in
        let count = min(input.count, Int(UInt32.max))
        unsafe stream.pointee.next_in = UnsafeMutablePointer(
          mutating: input.baseAddress?.assumingMemoryBound(to: UInt8.self))
        unsafe stream.pointee.avail_in = UInt32(count)
        unsafe stream.pointee.next_out = target.baseAddress?.assumingMemoryBound(to: UInt8.self)
        unsafe stream.pointee.avail_out = UInt32(space)
        code = unsafe inflate(stream, Z_NO_FLUSH)
        taken = unsafe count - Int(stream.pointee.avail_in)
        return unsafe space - Int(stream.pointee.avail_out)
      }
    }
    consumed += taken
    if made > room { throw .limit(bytes: limit) }
    switch code {
    case Z_STREAM_END: isBetween = true
    case Z_OK, Z_BUF_ERROR: break
    default:
      let reason = unsafe stream.pointee.msg.map { unsafe String(cString: $0) }
      throw .damaged(offset: consumed, reason: reason ?? "zlib code \(code)")
    }
    return taken
  }

  /// The most content that one step makes.
  private static let stepBytes = 256 << 10
}
