public import EventModel
internal import Primitives

/// Turns one JSON value, whatever it is, into MessagePack by the rules for events.
public enum JSONValuePacker {
  /// - Parameters:
  ///   - text: one value, blanks around it allowed.
  ///   - depth: objects and lists that may be within each other.
  public static func pack(
    _ text: RawSpan, depth: Int = EventLimits.maximumDepth
  ) throws(CodecError) -> [UInt8] {
    var memory = [UInt8](repeating: 0, count: PackedOutput.capacity(forJSON: text.byteCount))
    let count = try scan(text, depth, &memory)
    memory.removeSubrange(count...)
    return memory
  }

  private static func scan(
    _ text: RawSpan, _ depth: Int, _ memory: inout [UInt8]
  ) throws(CodecError) -> Int {
    try unsafe memory.withUnsafeMutableBytes { memory in
      Result { () throws(CodecError) -> Int in
        try unsafe text.withUnsafeBytes { bytes throws(CodecError) in
          var scanner = unsafe JSONScanner(bytes, output: memory)
          scanner.skipBlanks()
          try scanner.value(depth: depth)
          scanner.skipBlanks()
          guard scanner.at == scanner.count else { throw scanner.error(.trailing) }
          return scanner.output.count
        }
      }
    }.get()
  }
}
