internal import EventCodec
internal import EventModel
internal import Hashing
internal import Primitives
internal import SinkState

/// Finds the persons of a line: the same as `EventFields` and `PersonHash` find in its payload.
struct PersonScanner: Sendable {
  private static let ids = ["userId", "anonymousId", "previousId"]
  private var scanner = LineScanner(LinePaths(ids))
  private let key: KeyedHash

  init(key: KeyedHash) { self.key = key }

  /// Calls `body` with each person. A value that cannot be read names nobody.
  mutating func forEach(of line: UnsafeRawBufferPointer, _ body: (Hash128) -> Void) {
    guard unsafe scanner.scan(line) else { return }
    for range in scanner.found where !range.isEmpty {
      let value = unsafe UnsafeRawBufferPointer(rebasing: line[range])
      if let person = unsafe person(value) { body(person) }
    }
  }

  /// - Parameter value: canonical JSON; all but a text is its own text.
  private func person(_ value: UnsafeRawBufferPointer) -> Hash128? {
    guard unsafe value.first == UInt8(ascii: "\"") else {
      return unsafe value.elementsEqual("null".utf8) ? nil : key.hash(value.bytes)
    }
    let inside = unsafe UnsafeRawBufferPointer(rebasing: value.dropFirst().dropLast())
    guard unsafe !inside.isEmpty else { return nil }
    if unsafe !inside.contains(UInt8(ascii: "\\")) { return unsafe key.hash(inside.bytes) }
    do throws(CodecError) {
      guard case .string(let text) = try unsafe PropertyValue(json: value.bytes) else { return nil }
      return PersonHash.hash(text, by: key)
    } catch {
      return nil
    }
  }
}
