public import EventModel

/// Where the fields of the envelope stand in one payload, as a pass over it found them. Nothing is
/// allocated.
public struct FieldPlaces: Sendable {
  /// Each field once, and two more; an event that has keys twice may have more than fit.
  private static let capacity = 20

  public struct Place: Sendable {
    public var field: EnvelopeField
    @usableFromInline var keyStart: UInt32
    @usableFromInline var valueStart: UInt32
    @usableFromInline var valueEnd: UInt32

    /// The value with its MessagePack head.
    @inlinable public var value: Range<Int> { Int(valueStart)..<Int(valueEnd) }
    /// Key and value.
    @inlinable public var whole: Range<Int> { Int(keyStart)..<Int(valueEnd) }
  }

  @usableFromInline var places: [20 of Place] = .init(
    repeating: Place(field: .type, keyStart: 0, valueStart: 0, valueEnd: 0))
  public private(set) var count = 0
  /// Whether all fields are noted.
  public private(set) var isWhole = true
  /// The first byte of the first key.
  public private(set) var start = 0
  /// Behind the last value.
  public internal(set) var end = 0

  public init() {}

  /// In the payload's order.
  @inlinable public subscript(index: Int) -> Place { places[index] }

  mutating func begin(at start: Int) {
    count = 0
    isWhole = true
    self.start = start
  }

  @inline(__always)
  mutating func add(_ field: EnvelopeField, key: Int, value: Int, end: Int) {
    guard count < Self.capacity, let valueEnd = UInt32(exactly: end) else {
      isWhole = false
      return
    }
    places[count] = Place(
      field: field, keyStart: UInt32(key), valueStart: UInt32(value), valueEnd: valueEnd)
    count += 1
  }
}
