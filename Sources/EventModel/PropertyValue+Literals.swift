public import Primitives

extension PropertyValue: ExpressibleByNilLiteral, ExpressibleByBooleanLiteral,
  ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral, ExpressibleByStringLiteral,
  ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
  public init(nilLiteral: ()) { self = .null }
  public init(booleanLiteral value: Bool) { self = .bool(value) }
  public init(integerLiteral value: Int64) { self = .int(value) }
  public init(floatLiteral value: Double) { self = .double(value) }
  public init(stringLiteral value: String) { self = .string(value) }
  public init(arrayLiteral elements: PropertyValue...) { self = .array(elements) }
  public init(dictionaryLiteral elements: (String, PropertyValue)...) {
    self = .object(PropertyObject(elements.map { PropertyObject.Member($0, $1) }))
  }
}

extension PropertyObject: ExpressibleByDictionaryLiteral {
  public init(dictionaryLiteral elements: (String, PropertyValue)...) {
    self.init(elements.map { Member($0, $1) })
  }
}

extension PropertyValue {
  public init(_ value: Bool) { self = .bool(value) }
  public init(_ value: Int) { self = .int(Int64(value)) }
  public init(_ value: Int64) { self = .int(value) }
  public init(_ value: UInt64) {
    self = Int64(exactly: value).map(PropertyValue.int) ?? .uint(value)
  }
  public init(_ value: Double) { self = .double(value) }
  public init(_ value: String) { self = .string(value) }
  public init(_ value: Timestamp) { self = .date(value) }

  public var stringValue: String? { if case .string(let value) = self { value } else { nil } }
  public var boolValue: Bool? { if case .bool(let value) = self { value } else { nil } }
  public var intValue: Int64? { if case .int(let value) = self { value } else { nil } }
  public var doubleValue: Double? { if case .double(let value) = self { value } else { nil } }
  public var objectValue: PropertyObject? {
    if case .object(let value) = self { value } else { nil }
  }
}
