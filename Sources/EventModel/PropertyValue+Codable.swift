internal import Primitives

/// Codable by any coder; a date is its text. A coder that cannot tell `1.0` from `1`, as Foundation's
/// for JSON, gives back an integer for both.
extension PropertyValue: Codable {
  public init(from decoder: any Decoder) throws {
    if let container = try? decoder.container(keyedBy: PropertyKey.self) {
      self = .object(try PropertyObject(container))
      return
    }
    if var container = try? decoder.unkeyedContainer() {
      var values: [PropertyValue] = []
      while !container.isAtEnd { values.append(try container.decode(PropertyValue.self)) }
      self = .array(values)
      return
    }
    let container = try decoder.singleValueContainer()
    // Each attempt fails where the value has another type, so the order decides: a Bool is no number.
    if container.decodeNil() {
      self = .null
    } else if let value = try? container.decode(Bool.self) {
      self = .bool(value)
    } else if let value = try? container.decode(Int64.self) {
      self = .int(value)
    } else if let value = try? container.decode(UInt64.self) {
      self = PropertyValue(value)
    } else if let value = try? container.decode(Double.self) {
      self = .double(value)
    } else {
      self = .string(try container.decode(String.self))
    }
  }

  public func encode(to encoder: any Encoder) throws {
    switch self {
    case .array(let values):
      var container = encoder.unkeyedContainer()
      for value in values { try container.encode(value) }
    case .object(let object): try object.encode(to: encoder)
    default: try encodeSingle(to: encoder)
    }
  }

  private func encodeSingle(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    switch self {
    case .bool(let value): try container.encode(value)
    case .int(let value): try container.encode(value)
    case .uint(let value): try container.encode(value)
    // As everywhere: what JSON has no text for is null.
    case .double(let value) where value.isFinite: try container.encode(value)
    case .string(let value): try container.encode(value)
    case .date(let value): try container.encode(value)
    default: try container.encodeNil()
    }
  }
}

extension PropertyObject: Codable {
  public init(from decoder: any Decoder) throws {
    try self.init(decoder.container(keyedBy: PropertyKey.self))
  }

  fileprivate init(_ container: KeyedDecodingContainer<PropertyKey>) throws {
    self.init(
      try container.allKeys.map {
        Member($0.stringValue, try container.decode(PropertyValue.self, forKey: $0))
      })
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: PropertyKey.self)
    for member in members {
      try container.encode(member.value, forKey: PropertyKey(stringValue: member.key))
    }
  }
}

private struct PropertyKey: CodingKey {
  var stringValue: String
  var intValue: Int? { nil }

  init(stringValue: String) { self.stringValue = stringValue }
  init?(intValue: Int) { nil }
}
