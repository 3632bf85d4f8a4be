internal import Primitives

struct KeyedWriter<Key: CodingKey>: KeyedEncodingContainerProtocol {
  let state: EncodingState
  let level: EncodingState.Reference
  var codingPath: [any CodingKey] { [] }

  @inline(__always)
  private func begin(_ key: some CodingKey) throws(EventEncodingError) {
    try state.enter(level)
    state.writer.output.write(key.stringValue)
  }

  mutating func encodeNil(forKey key: Key) throws {
    try begin(key)
    state.writer.output.writeNil()
  }

  mutating func encode<T: Encodable>(_ value: T, forKey key: Key) throws {
    try begin(key)
    try state.write(value)
  }

  mutating func encode(_ value: Bool, forKey key: Key) throws {
    try begin(key)
    state.writer.output.write(value)
  }

  mutating func encode(_ value: String, forKey key: Key) throws {
    try begin(key)
    state.writer.output.write(value)
  }

  mutating func encode(_ value: Double, forKey key: Key) throws {
    try begin(key)
    state.writer.write(value)
  }

  mutating func encode(_ value: Float, forKey key: Key) throws {
    try begin(key)
    state.writer.write(Double(value))
  }

  mutating func encode(_ value: Int, forKey key: Key) throws {
    try begin(key)
    state.writer.output.write(Int64(value))
  }

  mutating func encode(_ value: Int8, forKey key: Key) throws {
    try begin(key)
    state.writer.output.write(Int64(value))
  }

  mutating func encode(_ value: Int16, forKey key: Key) throws {
    try begin(key)
    state.writer.output.write(Int64(value))
  }

  mutating func encode(_ value: Int32, forKey key: Key) throws {
    try begin(key)
    state.writer.output.write(Int64(value))
  }

  mutating func encode(_ value: Int64, forKey key: Key) throws {
    try begin(key)
    state.writer.output.write(Int64(value))
  }

  mutating func encode(_ value: UInt, forKey key: Key) throws {
    try begin(key)
    state.writer.output.write(UInt64(value))
  }

  mutating func encode(_ value: UInt8, forKey key: Key) throws {
    try begin(key)
    state.writer.output.write(UInt64(value))
  }

  mutating func encode(_ value: UInt16, forKey key: Key) throws {
    try begin(key)
    state.writer.output.write(UInt64(value))
  }

  mutating func encode(_ value: UInt32, forKey key: Key) throws {
    try begin(key)
    state.writer.output.write(UInt64(value))
  }

  mutating func encode(_ value: UInt64, forKey key: Key) throws {
    try begin(key)
    state.writer.output.write(UInt64(value))
  }

  mutating func nestedContainer<Nested: CodingKey>(
    keyedBy keyType: Nested.Type, forKey key: Key
  ) -> KeyedEncodingContainer<Nested> {
    superEncoder(forKey: key).container(keyedBy: keyType)
  }

  mutating func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
    superEncoder(forKey: key).unkeyedContainer()
  }

  mutating func superEncoder() -> any Encoder {
    openKey("super")
    return PropertyEncoder(state: state)
  }

  mutating func superEncoder(forKey key: Key) -> any Encoder {
    openKey(key.stringValue)
    return PropertyEncoder(state: state)
  }

  /// The protocol lets these not throw; using a container too late is a fault of the program.
  private func openKey(_ key: String) {
    do { try state.enter(level) } catch { preconditionFailure(error.reason) }
    state.writer.output.write(key)
  }
}
