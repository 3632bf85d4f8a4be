// A batch: the unit of ingest, of the journal and of delivery. Names stand beside the payloads, so the
// broker routes, numbers and filters without decoding an event. Big endian:
//
//   0  version       u8   1; another version is refused (BAD_FRAME)
//   1  flags         u8   bit 0: entries carry distances; bit 1: addressed. Others: refused
//   2  names         u16  distinct names, at least 1
//   4  events        u32  1 ... 65,535
//   8  payload bytes u32
//  12  names              each: length u8 (not 0), bytes; none stands twice
//      addressees         only if addressed: count u8 (not 0), each: length u8 (not 0), bytes.
//                         Only the durable subscribers of these names get the batch; the live feed and
//                         all others skip it (a replay to one sink)
//      entries            each: name u16 (index into the table), payload length u32, and with bit 0
//                         distance u16: the event's offset minus the batch's base offset, rising. Without
//                         it the distances are 0, 1, 2, ...
//      payloads           one after another, to the end; their lengths sum to `payload bytes`
internal import Primitives

/// A checked batch: where its parts are in the bytes it was read from.
///
/// Holds no bytes; the caller passes the same span again. Checking costs about 2 ns an event and does
/// not look into payloads.
public struct Batch: Hashable, Sendable {
  public static let version: UInt8 = 1
  static let headerBytes = 12
  static let distancesFlag: UInt8 = 1
  static let addressedFlag: UInt8 = 2

  public let eventCount: Int
  public let nameCount: Int
  public let hasDistances: Bool
  public let isAddressed: Bool
  /// Distance of the last event from the base offset; `eventCount - 1` unless filtered.
  public let lastDistance: Int
  let namesStart = Batch.headerBytes
  let addresseesStart: Int
  let entriesStart: Int
  public let payloadsStart: Int
  public let byteCount: Int

  var entryBytes: Int { hasDistances ? 8 : 6 }

  /// - Parameters:
  ///   - maximumEvents: more are refused.
  ///   - knowsNamesDiffer: the bytes were checked before, and a checksum says they are the same: that no
  ///     name stands twice, the dearest part where there are many, need not be looked for again.
  public init(
    checking bytes: RawSpan, maximumEvents: Int = 65535, knowsNamesDiffer: Bool = false
  ) throws(ProtocolError) {
    let size = bytes.byteCount
    guard size >= Batch.headerBytes else { throw .batch(reason: "\(size) bytes are no header") }
    let version: UInt8 = bytes.bigEndian(at: 0)
    guard version == Batch.version else { throw .batch(reason: "version \(version)") }
    let flags: UInt8 = bytes.bigEndian(at: 1)
    guard flags & ~3 == 0 else { throw .batch(reason: "unknown flags \(flags)") }
    hasDistances = flags & Batch.distancesFlag != 0
    isAddressed = flags & Batch.addressedFlag != 0
    nameCount = Int(bytes.bigEndian(at: 2, as: UInt16.self))
    eventCount = Int(bytes.bigEndian(at: 4, as: UInt32.self))
    guard eventCount > 0, eventCount <= min(maximumEvents, 65535) else {
      throw .batch(reason: "\(eventCount) events; 1 to \(min(maximumEvents, 65535)) are allowed")
    }
    guard nameCount > 0, nameCount <= eventCount else {
      throw .batch(reason: "\(nameCount) names for \(eventCount) events")
    }
    var at = Batch.headerBytes
    try Batch.skipTexts(nameCount, in: bytes, at: &at, what: "name")
    addresseesStart = at
    if nameCount > 1, !knowsNamesDiffer { try Batch.checkDistinct(nameCount, in: bytes) }
    if isAddressed {
      guard at < size else { throw .batch(reason: "the addressees are missing") }
      let count = Int(bytes.bigEndian(at: at, as: UInt8.self))
      guard count > 0 else { throw .batch(reason: "no addressee") }
      at += 1
      try Batch.skipTexts(count, in: bytes, at: &at, what: "addressee")
    }
    entriesStart = at
    payloadsStart = at + eventCount * (hasDistances ? 8 : 6)
    byteCount = size
    let payloadBytes = Int(bytes.bigEndian(at: 8, as: UInt32.self))
    guard payloadsStart + payloadBytes == size else {
      throw .batch(reason: "\(size) bytes where its header says \(payloadsStart + payloadBytes)")
    }
    lastDistance = try Batch.checkEntries(
      bytes, from: entriesStart, count: eventCount, names: nameCount, distances: hasDistances,
      payloadBytes: payloadBytes)
  }

  private static func skipTexts(
    _ count: Int, in bytes: RawSpan, at: inout Int, what: String
  ) throws(ProtocolError) {
    for index in 0..<count {
      guard at < bytes.byteCount else { throw .batch(reason: "\(what) \(index) is missing") }
      let length = Int(bytes.bigEndian(at: at, as: UInt8.self))
      guard length > 0, at + 1 + length <= bytes.byteCount else {
        throw .batch(reason: "\(what) \(index) of \(length) bytes does not fit")
      }
      at += 1 + length
    }
  }

  /// A name that stands twice would be counted, numbered and filtered as two.
  private static func checkDistinct(_ count: Int, in bytes: RawSpan) throws(ProtocolError) {
    var at = Batch.headerBytes
    let names = (0..<count).map { _ in
      let length = Int(bytes.bigEndian(at: at, as: UInt8.self))
      defer { at += 1 + length }
      return at + 1..<at + 1 + length
    }
    guard DistinctKeys.repeated(names[...], in: bytes) == nil else {
      throw .batch(reason: "a name stands twice in its table")
    }
  }

  private static func checkEntries(
    _ bytes: RawSpan, from start: Int, count: Int, names: Int, distances: Bool, payloadBytes: Int
  ) throws(ProtocolError) -> Int {
    var sum = 0
    var last = -1
    var at = start
    for index in 0..<count {
      guard Int(bytes.bigEndian(at: at, as: UInt16.self)) < names else {
        throw .batch(reason: "event \(index) has a name outside the table")
      }
      sum += Int(bytes.bigEndian(at: at + 2, as: UInt32.self))
      let distance = distances ? Int(bytes.bigEndian(at: at + 6, as: UInt16.self)) : index
      guard distance > last else { throw .batch(reason: "event \(index) goes back in distance") }
      last = distance
      at += distances ? 8 : 6
    }
    guard sum == payloadBytes else {
      throw .batch(reason: "payloads of \(sum) bytes where its header says \(payloadBytes)")
    }
    return last
  }
}

/// Walking over a batch's parts. Ranges are of the bytes that the batch was checked from.
extension Batch {
  /// The range of each name in table order; `at` begins as `firstName`.
  public var firstName: Int { namesStart }

  public func nextName(in bytes: RawSpan, at: inout Int) -> Range<Int> {
    let length = Int(bytes.bigEndian(at: at, as: UInt8.self))
    let range = at + 1..<at + 1 + length
    at = range.upperBound
    return range
  }

  public func nameRanges(in bytes: RawSpan) -> [Range<Int>] {
    var at = firstName
    return (0..<nameCount).map { _ in nextName(in: bytes, at: &at) }
  }

  public func addresseeRanges(in bytes: RawSpan) -> [Range<Int>] {
    guard isAddressed else { return [] }
    var at = addresseesStart + 1
    return (0..<Int(bytes.bigEndian(at: addresseesStart, as: UInt8.self)))
      .map { _ in nextName(in: bytes, at: &at) }
  }

  public struct Entry: Hashable, Sendable {
    public let name: Int
    public let payload: Range<Int>
    public let distance: Int
  }

  /// The entry with number `index`, whose payload begins at `payloadAt`; moves that to the next one.
  /// Begin with `payloadsStart` and go in order.
  @inline(__always)
  public func entry(_ index: Int, in bytes: RawSpan, payloadAt: inout Int) -> Entry {
    let at = entriesStart + index * entryBytes
    let length = Int(bytes.bigEndian(at: at + 2, as: UInt32.self))
    let range = unsafe Range(uncheckedBounds: (payloadAt, payloadAt + length))
    payloadAt += length
    return Entry(
      name: Int(bytes.bigEndian(at: at, as: UInt16.self)), payload: range,
      distance: hasDistances ? Int(bytes.bigEndian(at: at + 6, as: UInt16.self)) : index)
  }

  /// The table index of event `index`'s name.
  @inline(__always)
  public func nameIndex(of index: Int, in bytes: RawSpan) -> Int {
    Int(bytes.bigEndian(at: entriesStart + index * entryBytes, as: UInt16.self))
  }
}
