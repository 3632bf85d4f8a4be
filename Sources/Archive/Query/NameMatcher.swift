internal import EventCodec
internal import EventModel
internal import Primitives

/// Tells whether a line's event has a wanted name; each name is decoded and compared with the patterns
/// once.
struct NameMatcher: Sendable {
  /// Names remembered at most, of a line's own spelling; then it begins anew.
  private static let maximumNames = 65_536
  private static let track = Array("\"track\"".utf8)

  private let patterns: [EventPattern]
  private var known = ByteInterner()
  private var verdicts: [Bool] = []
  private var scratch: [UInt8] = []

  init(_ patterns: [EventPattern]) { self.patterns = patterns }

  /// - Parameters:
  ///   - type, event: the values as the line has them; empty where absent.
  mutating func matches(type: RawSpan, event: RawSpan) -> Bool {
    scratch.removeAll(keepingCapacity: true)
    Self.appendTopic(type: type, event: event, to: &scratch)
    if let id = known.find(scratch) { return verdicts[id] }
    if verdicts.count == Self.maximumNames {
      known.removeAll()
      verdicts.removeAll(keepingCapacity: true)
    }
    let verdict = isWanted()
    _ = known.intern(scratch)
    verdicts.append(verdict)
    return verdict
  }

  private func isWanted() -> Bool {
    do throws(CodecError) {
      guard case .string(let name) = try unsafe PropertyValue(json: scratch.span.bytes) else {
        return false
      }
      let bytes = Array(name.utf8)
      return patterns.contains { $0.matches(bytes) }
    } catch {
      return false
    }
  }

  /// The name of an event as JSON: a track's own, `"$identify"` and so on for the others.
  static func appendTopic(type: RawSpan, event: RawSpan, to bytes: inout [UInt8]) {
    let isTrack = unsafe type.isEqual(to: track.span.bytes)
    if isTrack || type.byteCount < 2 {
      bytes.append(event)
    } else {
      bytes.append(UInt8(ascii: "\""))
      bytes.append(UInt8(ascii: "$"))
      bytes.append(type.extracting(1...))
    }
  }
}
