// A person's key: what sinks hash to find, and to know again, the events of one person.
//
//   0  kind  u8   "u" for a userId, "a" for an anonymousId
//   1  id         the text as it was given; of a number or another value its JSON text, so that the user
//                 123 and the user "123" are one person, as they read the same in every output
internal import EventModel
internal import Primitives

/// Whom an event is about, as the key that is hashed (layout: PeopleReader.swift).
public struct PersonKey: Hashable, Sendable {
  public enum Kind: UInt8, Sendable, CaseIterable {
    case user = 0x75
    case anonymous = 0x61
  }

  public let bytes: [UInt8]

  public init(_ kind: Kind, _ id: String) {
    bytes = [kind.rawValue] + Array(id.utf8)
  }

  /// A key that `PeopleReader` gave.
  init(_ key: RawSpan) { bytes = key.copied() }
}

/// Reads the people of one payload after another.
///
/// An event is about its `userId` and its `anonymousId`; an alias about its `previousId` too, which may
/// be either. Null and an empty text are nobody. One pass over the fields, about 0.1 µs; keeps one small
/// buffer, so keep one a stream; not thread-safe.
public struct PeopleReader: Sendable {
  private var key: [UInt8] = []

  public init() {}

  /// Calls `body` with each key; the span is the reader's own and changes with the next one.
  ///
  /// - Throws: what `body` throws. A payload that is no event has nobody from the fault on: what came
  ///   over the bus has none.
  public mutating func forEach<E: Error>(
    of payload: RawSpan, _ body: (RawSpan) throws(E) -> Void
  ) throws(E) {
    var reader = MessagePackReader(payload)
    guard var left = Self.fields(&reader) else { return }
    while left > 0, let field = Self.next(&reader, payload) {
      left -= 1
      guard !field.kinds.isEmpty else { continue }
      key.removeAll(keepingCapacity: true)
      key.append(0)
      guard appendID(payload.extracting(field.value)), key.count > 1 else { continue }
      for kind in field.kinds {
        key[0] = kind.rawValue
        try unsafe body(key.span.bytes)
      }
    }
  }

  /// The keys with bytes of their own.
  public mutating func people(of payload: RawSpan) -> [PersonKey] {
    var found: [PersonKey] = []
    forEach(of: payload) { found.append(PersonKey($0)) }
    return found
  }

  private struct Field {
    var kinds: [PersonKey.Kind]
    var value: Range<Int>
  }

  private static let user: [PersonKey.Kind] = [.user]
  private static let anonymous: [PersonKey.Kind] = [.anonymous]
  private static let both = PersonKey.Kind.allCases

  private static func fields(_ reader: inout MessagePackReader) -> Int? {
    do throws(MessagePackError) { return try reader.readMapHeader() } catch { return nil }
  }

  private static func next(_ reader: inout MessagePackReader, _ payload: RawSpan) -> Field? {
    do throws(MessagePackError) {
      let name = payload.extracting(try reader.readStringRange())
      let start = reader.position
      try reader.skip()
      let field = unsafe name.withUnsafeBytes { unsafe EnvelopeField.named($0) }
      let kinds: [PersonKey.Kind] =
        switch field {
        case .userId: user
        case .anonymousId: anonymous
        case .previousId: both
        default: []
        }
      return Field(kinds: kinds, value: start..<reader.position)
    } catch {
      return nil
    }
  }

  /// Appends the id that `value` is; false for nobody.
  private mutating func appendID(_ value: RawSpan) -> Bool {
    var reader = MessagePackReader(value)
    do throws(MessagePackError) {
      let type = try reader.peek()
      if type == 0xC0 { return false }
      if type & 0xE0 == 0xA0 || (0xD9...0xDB).contains(type) {
        key.append(value.extracting(try reader.readStringRange()))
        return true
      }
    } catch {
      return false
    }
    do throws(CodecError) {
      try CanonicalJSON.append(value: value, to: &key)
      return true
    } catch {
      return false
    }
  }
}
