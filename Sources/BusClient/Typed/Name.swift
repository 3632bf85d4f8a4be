internal import Primitives

extension String {
  /// Calls `body` with the text's UTF-8 where it lies; native strings are not copied.
  mutating func withUTF8Span<R, E: Error>(
    _ body: (RawSpan) throws(E) -> R
  ) throws(E) -> R {
    var result: Result<R, E>?
    withUTF8 { bytes in
      let span = unsafe RawSpan(_unsafeElements: bytes)
      do throws(E) { result = .success(try body(span)) } catch { result = .failure(error) }
    }
    guard let result else { preconditionFailure("withUTF8 did not call its closure") }
    return try result.get()
  }
}
