public import Primitives

/// Why a typed event could not be made from properties. The subscriber gets the event as undecodable,
/// counts it and goes on.
public struct EventDecodingError: Error, Hashable, Sendable, CustomStringConvertible {
  public enum Kind: Hashable, Sendable {
    case missing
    case wrongType
    case unknownCase
    case notATime
    case malformed(MessagePackError)
    /// What a `Decodable` event's own code said.
    case other(String)
  }

  public var kind: Kind
  /// The property concerned; empty when it is the event as a whole.
  public var key: String

  public init(_ kind: Kind, key: String) {
    self.kind = kind
    self.key = key
  }

  init(_ kind: Kind, key: StaticString) { self.init(kind, key: key.description) }

  public init(_ error: MessagePackError, key: StaticString = "") {
    self.init(error.kind == .wrongType ? .wrongType : .malformed(error), key: key.description)
  }

  public var description: String {
    let subject = key.isEmpty ? "the event" : "property \"\(key)\""
    return switch kind {
    case .missing: "\(subject) is missing"
    case .wrongType: "\(subject) has another type"
    case .unknownCase: "\(subject) is none of the known values"
    case .notATime: "\(subject) is not a time"
    case .malformed(let error): "\(subject): \(error)"
    case .other(let reason): "\(subject): \(reason)"
    }
  }
}

/// Why the properties of an event could not be written: what a `Encodable` event's own code said, or a
/// shape that properties cannot have.
public struct EventEncodingError: Error, Hashable, Sendable, CustomStringConvertible {
  public var reason: String

  public init(_ reason: String) { self.reason = reason }

  public var description: String { "the event cannot be encoded: \(reason)" }
}
