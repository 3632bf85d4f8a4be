public import Primitives

/// Writes the properties of one event, straight into the bytes that travel. About 15 ns a property.
///
/// Numbers that JSON has no text for (NaN, the infinities) become null and are counted: analytics must
/// never stop an app, and such a value must never reach a destination.
public struct PropertyWriter: Sendable {
  /// The bytes of the event so far. The encoder writes the envelope here, events only properties.
  public var output: MessagePackWriter
  /// Properties written so far.
  public var count = 0
  /// Doubles that were stored as null since the writer was made.
  public var nonFiniteCount = 0
  /// Set when an event has properties but no single one: an empty map is not the same as none.
  public var isPresent = false
  /// Set when a list or an object was written, so that the encoder checks how deep they are.
  public var hasContainers = false

  public init(output: consuming MessagePackWriter = MessagePackWriter()) { self.output = output }

  public mutating func write(_ key: StaticString, _ value: Bool) {
    begin(key)
    output.write(value)
  }

  public mutating func write(_ key: StaticString, _ value: Int) {
    begin(key)
    output.write(Int64(value))
  }

  public mutating func write(_ key: StaticString, _ value: UInt64) {
    begin(key)
    output.write(value)
  }

  public mutating func write(_ key: StaticString, _ value: Double) {
    begin(key)
    write(value)
  }

  public mutating func write(_ key: StaticString, _ value: String) {
    count += 1
    output.write(key, value)
  }

  public mutating func write(_ key: StaticString, _ value: Timestamp) {
    begin(key)
    write(value)
  }

  /// A case of an enum whose raw values are what travels.
  @_disfavoredOverload
  @inlinable
  public mutating func write(_ key: StaticString, _ value: some RawRepresentable<String>) {
    count += 1
    output.write(key, value.rawValue)
  }

  public mutating func write(_ key: StaticString, _ value: PropertyValue) {
    begin(key)
    write(value)
  }

  /// A key that is only known when the program runs.
  @_disfavoredOverload
  public mutating func write(_ key: String, _ value: PropertyValue) {
    count += 1
    output.write(key)
    write(value)
  }

  public mutating func write(contentsOf object: PropertyObject) {
    isPresent = true
    for member in object.members { write(member.key, member.value) }
  }

  @inline(__always)
  private mutating func begin(_ key: StaticString) {
    count += 1
    output.write(key)
  }
}

// Optionals: nil leaves the property out; to send a null, write `PropertyValue.null`.
extension PropertyWriter {
  public mutating func write(_ key: StaticString, _ value: Bool?) {
    if let value { write(key, value) }
  }
  public mutating func write(_ key: StaticString, _ value: Int?) {
    if let value { write(key, value) }
  }
  public mutating func write(_ key: StaticString, _ value: Double?) {
    if let value { write(key, value) }
  }
  public mutating func write(_ key: StaticString, _ value: String?) {
    if let value { write(key, value) }
  }
  public mutating func write(_ key: StaticString, _ value: Timestamp?) {
    if let value { write(key, value) }
  }
}

// Values without a key: elements of lists, and what the encoder needs.
extension PropertyWriter {
  public mutating func write(_ value: Double) {
    if value.isFinite {
      output.write(value)
    } else {
      nonFiniteCount += 1
      output.writeNil()
    }
  }

  public mutating func write(_ value: Timestamp) {
    var text: [UInt8] = []
    value.appendText(to: &text)
    unsafe output.writeString(utf8: text.span.bytes)
  }

  /// Recursive: as deep as the value that the program built. The encoder refuses what is too deep for
  /// the bus afterwards.
  public mutating func write(_ value: PropertyValue) {
    switch value {
    case .null: output.writeNil()
    case .bool(let value): output.write(value)
    case .int(let value): output.write(value)
    case .uint(let value): output.write(value)
    case .double(let value): write(value)
    case .string(let value): output.write(value)
    case .date(let value): write(value)
    case .array(let values):
      hasContainers = true
      output.writeArrayHeader(values.count)
      for value in values { write(value) }
    case .object(let object):
      hasContainers = true
      output.writeMapHeader(object.count)
      for member in object.members {
        output.write(member.key)
        write(member.value)
      }
    }
  }
}
