internal import Primitives

/// Steps over MessagePack values and refuses maps that have a key twice, or a key that is no text.
///
/// Recursive, so bounded: `depth` containers may be open. What it costs is pairs of keys compared in
/// small maps and a sort of those of large ones.
struct KeySearch {
  let depth: Int
  /// Keys of the maps that are open.
  private var keys: [Range<Int>] = []

  init(depth: Int) { self.depth = depth }

  /// Steps over the next value.
  mutating func skip(_ reader: inout MessagePackReader) throws(MessagePackError) {
    keys.removeAll(keepingCapacity: true)
    try skip(&reader, depth)
  }

  private mutating func skip(
    _ reader: inout MessagePackReader, _ depth: Int
  ) throws(MessagePackError) {
    let start = reader.position
    switch try reader.peek() {
    case 0x90...0x9F, 0xDC, 0xDD:
      guard depth > 0 else { throw MessagePackError(.tooDeep, at: start) }
      for _ in 0..<(try reader.readArrayHeader()) { try skip(&reader, depth - 1) }
    case 0x80...0x8F, 0xDE, 0xDF:
      guard depth > 0 else { throw MessagePackError(.tooDeep, at: start) }
      let first = keys.count
      for _ in 0..<(try reader.readMapHeader()) {
        keys.append(try reader.readStringRange())
        try skip(&reader, depth - 1)
      }
      if let twice = DistinctKeys.repeated(keys[first...], in: reader.bytes) {
        throw MessagePackError(.duplicateKey, at: twice.lowerBound)
      }
      keys.removeSubrange(first...)
    default: try reader.skip()
    }
  }
}
