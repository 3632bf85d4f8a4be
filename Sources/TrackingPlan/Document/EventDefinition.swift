public import EventModel

/// One event type of a plan.
public struct EventDefinition: Hashable, Sendable {
  /// Compared byte for byte.
  public var name: EventType
  /// For people, and for the exported Swift.
  public var text = ""
  /// In the order of the file.
  public var properties: [PropertyDefinition] = []
  /// Whether properties that the definition does not name are in order.
  public var allowsOthers = false

  /// An event without properties.
  public init(_ name: EventType) { self.name = name }

  /// The property of that name, byte for byte.
  public subscript(property name: String) -> PropertyDefinition? {
    properties.first { $0.name.utf8.elementsEqual(name.utf8) }
  }
}

/// One property of an event type.
public struct PropertyDefinition: Hashable, Sendable {
  /// As it travels.
  public var name: String
  /// For people, and for the exported Swift.
  public var text = ""
  /// What its value may be.
  public var types: PlanTypes
  /// Whether the event cannot be without it.
  public var isRequired = false
  /// The only texts that it may be; nil: any.
  public var values: [String]?

  /// A property that need not be there.
  public init(_ name: String, _ types: PlanTypes) {
    self.name = name
    self.types = types
  }
}

/// The types that a property may have. `1`, `1.0` and `true` have three.
public struct PlanTypes: OptionSet, Hashable, Sendable {
  /// One bit a type.
  public let rawValue: UInt16

  public init(rawValue: UInt16) { self.rawValue = rawValue }

  /// A null that was given.
  public static let null = PlanTypes(rawValue: 1)
  /// True or false.
  public static let boolean = PlanTypes(rawValue: 2)
  /// A number without point and exponent.
  public static let integer = PlanTypes(rawValue: 4)
  /// A number with a point or an exponent.
  public static let fraction = PlanTypes(rawValue: 8)
  /// A text that is a time, as `2026-11-30T10:00:00Z`.
  public static let date = PlanTypes(rawValue: 16)
  /// A text that is no time.
  public static let otherText = PlanTypes(rawValue: 32)
  /// Values in order.
  public static let list = PlanTypes(rawValue: 64)
  /// Values by names.
  public static let object = PlanTypes(rawValue: 128)

  /// Any text, times included.
  public static let string: PlanTypes = [.date, .otherText]
  /// Any number.
  public static let number: PlanTypes = [.integer, .fraction]
  /// Whatever there is.
  public static let any = PlanTypes(rawValue: 255)

  /// The words of the file, the wider first.
  static let words: [(String, PlanTypes)] = [
    ("any", .any), ("string", .string), ("number", .number), ("date", .date),
    ("integer", .integer), ("double", .fraction), ("boolean", .boolean), ("list", .list),
    ("object", .object), ("null", .null),
  ]

  /// The fewest words that say it, as `string` or `integer or null`.
  public var names: [String] {
    var left = self
    var names: [String] = []
    for (word, types) in Self.words where !types.isDisjoint(with: left) && types.isSubset(of: self)
    {
      names.append(word)
      left.subtract(types)
    }
    // Text that is no time has no word of its own; only an inference could have it.
    if !left.isEmpty { names.append("string") }
    return names
  }

  /// What the value of a property is.
  public init(_ value: PropertyValue) {
    switch value {
    case .null: self = .null
    case .bool: self = .boolean
    case .int, .uint: self = .integer
    case .double: self = .fraction
    case .date: self = .date
    case .string(let text): self = TimeShape.isTime(text) ? .date : .otherText
    case .array: self = .list
    case .object: self = .object
    }
  }
}

extension PlanTypes: CustomStringConvertible {
  /// The words of the file, as `integer or null`.
  public var description: String { names.joined(separator: " or ") }
}
