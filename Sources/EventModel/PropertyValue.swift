public import Primitives

/// The value of a property, with its exact type: `true`, `1` and `1.0` are three values.
///
/// Texts and keys are compared byte for byte, doubles by their bits (`-0.0` is not `0.0`, and NaN equals
/// itself), a date equals the text that it becomes on the wire.
public enum PropertyValue: Sendable {
  case null
  case bool(Bool)
  case int(Int64)
  /// Whole numbers beyond `Int64.max`; smaller ones equal the `int` of the same value.
  case uint(UInt64)
  case double(Double)
  case string(String)
  /// Becomes text with 3, 6 or 9 decimals on the wire, and comes back as that text.
  case date(Timestamp)
  case array([PropertyValue])
  case object(PropertyObject)
}

/// Properties in the order in which they were given. Lookup is by a scan: objects are small.
public struct PropertyObject: Sendable {
  public struct Member: Hashable, Sendable {
    public var key: String
    public var value: PropertyValue

    public init(_ key: String, _ value: PropertyValue) {
      self.key = key
      self.value = value
    }

    public static func == (a: Member, b: Member) -> Bool {
      a.key.hasSameBytes(b.key) && a.value == b.value
    }

    public func hash(into hasher: inout Hasher) {
      hasher.combine(bytesOf: key)
      hasher.combine(value)
    }
  }

  public var members: [Member]

  public init(_ members: [Member] = []) { self.members = members }

  public var count: Int { members.count }
  public var isEmpty: Bool { members.isEmpty }

  /// The value of `key`; setting nil takes the member out, a new key goes to the end.
  public subscript(key: String) -> PropertyValue? {
    get { members.first { $0.key.hasSameBytes(key) }?.value }
    set {
      let index = members.firstIndex { $0.key.hasSameBytes(key) }
      switch (index, newValue) {
      case (let index?, let value?): members[index].value = value
      case (let index?, nil): members.remove(at: index)
      case (nil, let value?): members.append(Member(key, value))
      case (nil, nil): break
      }
    }
  }

  /// These members, and those of `common` whose keys are not among them: an event's own value wins.
  public func merging(_ common: PropertyObject) -> PropertyObject {
    var merged = self
    for member in common.members where self[member.key] == nil { merged.members.append(member) }
    return merged
  }
}

extension PropertyObject: Hashable {}

extension PropertyValue: Hashable {
  public static func == (a: PropertyValue, b: PropertyValue) -> Bool {
    switch (a, b) {
    case (.null, .null): true
    case (.bool(let a), .bool(let b)): a == b
    case (.int(let a), .int(let b)): a == b
    case (.uint(let a), .uint(let b)): a == b
    case (.int(let a), .uint(let b)), (.uint(let b), .int(let a)): UInt64(exactly: a) == b
    case (.double(let a), .double(let b)): a.bitPattern == b.bitPattern
    case (.string(let a), .string(let b)): a.hasSameBytes(b)
    case (.date(let a), .date(let b)): a == b
    case (.date(let a), .string(let b)), (.string(let b), .date(let a)): a.text.hasSameBytes(b)
    case (.array(let a), .array(let b)): a == b
    case (.object(let a), .object(let b)): a == b
    default: false
    }
  }

  public func hash(into hasher: inout Hasher) {
    switch self {
    case .null: hasher.combine(0)
    case .bool(let value): hasher.combine(value)
    case .int(let value): hasher.combine(UInt64(bitPattern: value))
    case .uint(let value): hasher.combine(value)
    case .double(let value): hasher.combine(value.bitPattern)
    case .string(let value): hasher.combine(bytesOf: value)
    case .date(let value): hasher.combine(bytesOf: value.text)
    case .array(let value): hasher.combine(value)
    case .object(let value): hasher.combine(value)
    }
  }
}
