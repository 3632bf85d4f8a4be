internal import Primitives

struct ListWriter: UnkeyedEncodingContainer {
  let state: EncodingState
  let level: EncodingState.Reference
  var codingPath: [any CodingKey] { [] }
  var count: Int { state.count(level) }

  mutating func encodeNil() throws {
    try state.enter(level)
    state.writer.output.writeNil()
  }

  mutating func encode<T: Encodable>(_ value: T) throws {
    try state.enter(level)
    try state.write(value)
  }

  mutating func encode(_ value: Bool) throws {
    try state.enter(level)
    state.writer.output.write(value)
  }

  mutating func encode(_ value: String) throws {
    try state.enter(level)
    state.writer.output.write(value)
  }

  mutating func encode(_ value: Double) throws {
    try state.enter(level)
    state.writer.write(value)
  }

  mutating func encode(_ value: Float) throws {
    try state.enter(level)
    state.writer.write(Double(value))
  }

  mutating func encode(_ value: Int) throws {
    try state.enter(level)
    state.writer.output.write(Int64(value))
  }

  mutating func encode(_ value: Int8) throws {
    try state.enter(level)
    state.writer.output.write(Int64(value))
  }

  mutating func encode(_ value: Int16) throws {
    try state.enter(level)
    state.writer.output.write(Int64(value))
  }

  mutating func encode(_ value: Int32) throws {
    try state.enter(level)
    state.writer.output.write(Int64(value))
  }

  mutating func encode(_ value: Int64) throws {
    try state.enter(level)
    state.writer.output.write(Int64(value))
  }

  mutating func encode(_ value: UInt) throws {
    try state.enter(level)
    state.writer.output.write(UInt64(value))
  }

  mutating func encode(_ value: UInt8) throws {
    try state.enter(level)
    state.writer.output.write(UInt64(value))
  }

  mutating func encode(_ value: UInt16) throws {
    try state.enter(level)
    state.writer.output.write(UInt64(value))
  }

  mutating func encode(_ value: UInt32) throws {
    try state.enter(level)
    state.writer.output.write(UInt64(value))
  }

  mutating func encode(_ value: UInt64) throws {
    try state.enter(level)
    state.writer.output.write(UInt64(value))
  }

  mutating func nestedContainer<Nested: CodingKey>(
    keyedBy keyType: Nested.Type
  ) -> KeyedEncodingContainer<Nested> {
    superEncoder().container(keyedBy: keyType)
  }

  mutating func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer {
    superEncoder().unkeyedContainer()
  }

  /// The protocol lets this not throw; using a container too late is a fault of the program.
  mutating func superEncoder() -> any Encoder {
    do { try state.enter(level) } catch { preconditionFailure(error.reason) }
    return PropertyEncoder(state: state)
  }
}

struct ValueWriter: SingleValueEncodingContainer {
  let state: EncodingState
  var codingPath: [any CodingKey] { [] }

  func encodeNil() throws {
    try state.requireContainer()
    state.writer.output.writeNil()
  }

  func encode<T: Encodable>(_ value: T) throws {
    // At the outermost level this is a wrapper around the keyed value.
    try value.encode(to: PropertyEncoder(state: state))
  }

  func encode(_ value: Bool) throws {
    try state.requireContainer()
    state.writer.output.write(value)
  }

  func encode(_ value: String) throws {
    try state.requireContainer()
    state.writer.output.write(value)
  }

  func encode(_ value: Double) throws {
    try state.requireContainer()
    state.writeSingle(value)
  }

  func encode(_ value: Float) throws {
    try state.requireContainer()
    state.writer.write(Double(value))
  }

  func encode(_ value: Int) throws {
    try state.requireContainer()
    state.writer.output.write(Int64(value))
  }

  func encode(_ value: Int8) throws {
    try state.requireContainer()
    state.writer.output.write(Int64(value))
  }

  func encode(_ value: Int16) throws {
    try state.requireContainer()
    state.writer.output.write(Int64(value))
  }

  func encode(_ value: Int32) throws {
    try state.requireContainer()
    state.writer.output.write(Int64(value))
  }

  func encode(_ value: Int64) throws {
    try state.requireContainer()
    state.writer.output.write(Int64(value))
  }

  func encode(_ value: UInt) throws {
    try state.requireContainer()
    state.writer.output.write(UInt64(value))
  }

  func encode(_ value: UInt8) throws {
    try state.requireContainer()
    state.writer.output.write(UInt64(value))
  }

  func encode(_ value: UInt16) throws {
    try state.requireContainer()
    state.writer.output.write(UInt64(value))
  }

  func encode(_ value: UInt32) throws {
    try state.requireContainer()
    state.writer.output.write(UInt64(value))
  }

  func encode(_ value: UInt64) throws {
    try state.requireContainer()
    state.writer.output.write(UInt64(value))
  }
}
