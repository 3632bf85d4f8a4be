/// Grows `output` by `count` bytes, lets `body` fill them from their start, and keeps as many as it
/// returns; none where it returns anything beyond, as zstd does for its errors.
package func appending(
  upTo count: Int, to output: inout [UInt8], _ body: (UnsafeMutableRawBufferPointer) -> Int
) -> Int {
  var result = 0
  output.append(addingCapacity: count) { room in
    unsafe room.withUnsafeMutableBufferPointer { space, used in
      result = unsafe body(UnsafeMutableRawBufferPointer(start: space.baseAddress, count: count))
      used = (0...count).contains(result) ? result : 0
    }
  }
  return result
}
