internal import EventCodec
internal import EventModel
internal import Primitives

/// Finds the name under which the event of a line travelled: that of a track, else `$` and its type.
struct TopicScanner: Sendable {
  private var scanner = LineScanner(LinePaths(["type", "event"]))

  mutating func topic(of line: UnsafeRawBufferPointer) -> [UInt8]? {
    guard unsafe scanner.scan(line) else { return nil }
    let found = scanner.found
    guard let type = unsafe text(line, found[0]) else { return nil }
    if type == "track" { return unsafe text(line, found[1]).map { Array($0.utf8) } }
    return Array("$\(type)".utf8)
  }

  private func text(_ line: UnsafeRawBufferPointer, _ range: Range<Int>) -> String? {
    guard !range.isEmpty else { return nil }
    let value = unsafe UnsafeRawBufferPointer(rebasing: line[range])
    do throws(CodecError) {
      return try unsafe PropertyValue(json: value.bytes).stringValue
    } catch {
      return nil
    }
  }
}
