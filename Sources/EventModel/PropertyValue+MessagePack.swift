public import Primitives

extension PropertyValue {
  /// Reads one value. Recursive, so it refuses more than ``EventLimits/maximumContainers`` levels, what
  /// one field of the envelope may have with its own object.
  ///
  /// - Throws: `.wrongType` for binary, extensions, and keys that are no text: events have none;
  ///   `.duplicateKey` for a map that has a key twice.
  public init(
    from reader: inout MessagePackReader, depth: Int = EventLimits.maximumContainers
  ) throws(MessagePackError) {
    let start = reader.position
    let type = try reader.peek()
    switch type {
    case 0xC0:
      self = .null
      reader.position += 1
    case 0xC2, 0xC3: self = .bool(try reader.readBool())
    case 0xCA, 0xCB: self = .double(try reader.readDouble())
    case 0xCF: self = PropertyValue(try reader.readUInt())
    case 0x00...0x7F, 0xE0...0xFF, 0xCC...0xD3: self = .int(try reader.readInt())
    case 0xA0...0xBF, 0xD9...0xDB: self = .string(try reader.readString())
    case 0x90...0x9F, 0xDC, 0xDD:
      guard depth > 0 else { throw MessagePackError(.tooDeep, at: start) }
      let count = try reader.readArrayHeader()
      var values: [PropertyValue] = []
      values.reserveCapacity(min(count, 64))
      for _ in 0..<count { values.append(try PropertyValue(from: &reader, depth: depth - 1)) }
      self = .array(values)
    case 0x80...0x8F, 0xDE, 0xDF:
      guard depth > 0 else { throw MessagePackError(.tooDeep, at: start) }
      let count = try reader.readMapHeader()
      var object = PropertyObject()
      object.members.reserveCapacity(min(count, 64))
      var keys: [Range<Int>] = []
      keys.reserveCapacity(min(count, 64))
      for _ in 0..<count {
        var ahead = MessagePackReader(reader.bytes, at: reader.position)
        keys.append(try ahead.readStringRange())
        let key = try reader.readString()
        object.members.append(.init(key, try PropertyValue(from: &reader, depth: depth - 1)))
      }
      if let twice = DistinctKeys.repeated(keys[...], in: reader.bytes) {
        throw MessagePackError(.duplicateKey, at: twice.lowerBound)
      }
      self = .object(object)
    case 0xC1: throw MessagePackError(.unknownType, at: start)
    default: throw MessagePackError(.wrongType, at: start)
    }
  }
}
