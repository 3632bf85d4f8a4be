internal import Primitives

/// The value of a field in a control message: the part of MessagePack that the protocol uses.
public enum ControlValue: Hashable, Sendable {
  case null
  case flag(Bool)
  case number(UInt64)
  case negative(Int64)
  case double(Double)
  case text(String)
  case bytes([UInt8])
  case list([ControlValue])
  case map(ControlMap)
}

/// The fields of a control message, in order: a MessagePack map with text keys.
///
/// Bounded when read: 8 levels, and no count is believed that the remaining bytes could not hold. Names
/// and messages are short and rare, so this favours clarity over speed.
public struct ControlMap: Hashable, Sendable {
  public private(set) var fields: [(key: String, value: ControlValue)] = []

  public init() {}

  public static func == (a: ControlMap, b: ControlMap) -> Bool {
    a.fields.elementsEqual(b.fields) { $0.key == $1.key && $0.value == $1.value }
  }

  public func hash(into hasher: inout Hasher) {
    for field in fields {
      hasher.combine(field.key)
      hasher.combine(field.value)
    }
  }

  public subscript(key: String) -> ControlValue? {
    get { fields.first { $0.key == key }?.value }
    set {
      let index = fields.firstIndex { $0.key == key }
      switch (index, newValue) {
      case (let index?, let value?): fields[index].value = value
      case (let index?, nil): fields.remove(at: index)
      case (nil, let value?): fields.append((key, value))
      case (nil, nil): break
      }
    }
  }

  public func number(_ key: String, or other: UInt64 = 0) -> UInt64 {
    if case .number(let value)? = self[key] { value } else { other }
  }

  public func text(_ key: String, or other: String = "") -> String {
    if case .text(let value)? = self[key] { value } else { other }
  }

  public func flag(_ key: String) -> Bool { self[key] == .flag(true) }

  /// Bytes; a text counts as its UTF-8, for clients whose language has one kind of string.
  public func bytes(_ key: String) -> [UInt8] {
    switch self[key] {
    case .bytes(let value): value
    case .text(let value): Array(value.utf8)
    default: []
    }
  }

  public func list(_ key: String) -> [ControlValue] {
    if case .list(let value)? = self[key] { value } else { [] }
  }
}

extension ControlMap {
  /// The message of `header` with this map as its body.
  public func message(_ header: MessageHeader) -> [UInt8] {
    var bytes: [UInt8] = []
    header.encode(into: &bytes)
    encode(into: &bytes)
    return bytes
  }

  /// The map behind the header of `message`.
  public init(body message: RawSpan, of verb: Verb) throws(ProtocolError) {
    guard message.byteCount > MessageHeader.byteCount else {
      throw .body(verb, reason: "the map is missing")
    }
    var reader = ControlMapReader(at: MessageHeader.byteCount)
    let value: ControlValue
    do {
      value = try reader.value(in: message, depth: 8)
    } catch {
      throw .body(verb, reason: error.reason)
    }
    guard case .map(let map) = value, reader.at == message.byteCount else {
      throw .body(verb, reason: "the body is not one map")
    }
    self = map
  }
}
