// The event of a load test: an ordinary track event whose fields all have fixed places, so that it is
// made by patching and checked without decoding. MessagePack, big-endian, in this order:
//
//   map 6    type "track" · event NAME · messageId str 32 (hex of run, producer, sequence)
//            anonymousId "load" · timestamp u64 (1970, ns) · properties:
//   map 7    r run u64 · p producer u32 · s sequence u64, from 0 · t intended time u64 (monotonic, ns)
//            w warm-up bool · x filler str · c crc u32: CRC-32C of all bytes of the event before these four
//
// A reader takes what has the right length and checksum; everything else is corrupted.
internal import Primitives

/// Makes the events of one producer.
public struct ProbeWriter: Sendable {
  public static let name = "Load Test"
  public private(set) var bytes: [UInt8]
  private let producer: UInt32
  private let places: ProbePlaces
  /// From monotonic time to that since 1970.
  private let clockOffset: Int64

  /// - Parameter size: bytes of an event, at least `ProbePlaces.minimumSize`.
  public init(run: UInt64, producer: Int, size: Int, clockOffset: Int64) {
    self.producer = UInt32(producer)
    self.clockOffset = clockOffset
    let (bytes, places) = ProbePlaces.template(size: size)
    self.bytes = bytes
    self.places = places
    self.bytes.storeBigEndian(run, at: places.run)
    self.bytes.storeBigEndian(self.producer, at: places.producer)
    storeHex(run, digits: 16, at: places.id)
    storeHex(UInt64(producer), digits: 4, at: places.id + 16)
  }

  /// Makes `bytes` the event of that number.
  public mutating func write(sequence: UInt64, intended: Int64, isWarmUp: Bool) {
    storeHex(sequence, digits: 12, at: places.id + 20)
    bytes.storeBigEndian(UInt64(bitPattern: intended &+ clockOffset), at: places.timestamp)
    bytes.storeBigEndian(sequence, at: places.sequence)
    bytes.storeBigEndian(UInt64(bitPattern: intended), at: places.intended)
    bytes[places.warmUp] = isWarmUp ? 0xC3 : 0xC2
    let end = bytes.count - 4
    let checksum = unsafe CRC32C.checksum(bytes.span.bytes.extracting(0..<end))
    bytes.storeBigEndian(checksum, at: end)
  }

  private mutating func storeHex(_ value: UInt64, digits: Int, at place: Int) {
    var rest = value
    for index in stride(from: place + digits - 1, through: place, by: -1) {
      let digit = UInt8(truncatingIfNeeded: rest & 15)
      bytes[index] = digit < 10 ? digit + 0x30 : digit + 0x57
      rest >>= 4
    }
  }
}

/// Reads the events of one run.
public struct ProbeReader: Sendable {
  public enum Reading: Hashable, Sendable {
    case event(producer: Int, sequence: UInt64, intended: Int64, isWarmUp: Bool)
    /// Of another load test on the same bus.
    case foreign
    case corrupted
  }

  private let run: UInt64
  private let size: Int
  private let places: ProbePlaces

  public init(run: UInt64, size: Int) {
    self.run = run
    let (bytes, places) = ProbePlaces.template(size: size)
    self.size = bytes.count
    self.places = places
  }

  public func read(_ payload: RawSpan) -> Reading {
    let end = payload.byteCount - 4
    guard payload.byteCount >= ProbePlaces.minimumSize,
      CRC32C.checksum(payload.extracting(0..<end)) == payload.bigEndian(at: end)
    else { return .corrupted }
    guard payload.bigEndian(at: places.run) == run else { return .foreign }
    guard payload.byteCount == size else { return .corrupted }
    let producer: UInt32 = payload.bigEndian(at: places.producer)
    let intended: UInt64 = payload.bigEndian(at: places.intended)
    return .event(
      producer: Int(producer), sequence: payload.bigEndian(at: places.sequence),
      intended: Int64(bitPattern: intended),
      isWarmUp: payload.bigEndian(at: places.warmUp, as: UInt8.self) == 0xC3)
  }
}

/// Where the changing fields of an event stand; the same for every size.
public struct ProbePlaces: Hashable, Sendable {
  var id = 0
  var timestamp = 0
  var run = 0
  var producer = 0
  var sequence = 0
  var intended = 0
  var warmUp = 0

  /// An event without filler.
  public static let minimumSize = template(size: 0).bytes.count

  static func template(size: Int) -> (bytes: [UInt8], places: ProbePlaces) {
    var bare = build(filler: 0)
    // A longer filler has a longer header: what that adds comes off the filler again.
    let rest = size - bare.bytes.count
    guard rest > 0 else { return bare }
    let header = rest < 32 ? 0 : rest < 257 ? 1 : rest < 65_538 ? 2 : 4
    bare = build(filler: rest - header)
    return bare
  }

  private static func build(filler: Int) -> (bytes: [UInt8], places: ProbePlaces) {
    var places = ProbePlaces()
    var writer = MessagePackWriter()
    writer.writeMapHeader(6)
    writer.write("type")
    writer.write("track")
    writer.write("event")
    writer.write(ProbeWriter.name)
    writer.write("messageId")
    writer.write(String(repeating: "0", count: 32))
    places.id = writer.bytes.count - 32
    writer.write("anonymousId")
    writer.write("load")
    writer.write("timestamp")
    places.timestamp = wide(&writer)
    writer.write("properties")
    writer.writeMapHeader(7)
    writer.write("r")
    places.run = wide(&writer)
    writer.write("p")
    places.producer = narrow(&writer)
    writer.write("s")
    places.sequence = wide(&writer)
    writer.write("t")
    places.intended = wide(&writer)
    writer.write("w")
    places.warmUp = writer.bytes.count
    writer.write(false)
    writer.write("x")
    writer.write(Self.filler(filler))
    writer.write("c")
    _ = narrow(&writer)
    return (writer.bytes, places)
  }

  /// Letters that look random, so that nothing on the way gains by compressing them.
  private static func filler(_ count: Int) -> String {
    var random = SeededRandom(seed: 7)
    return String(
      decoding: (0..<count).map { _ in UInt8(0x61 + random.next() % 26) }, as: UTF8.self)
  }

  /// An eight-byte number whatever its value; returns its place.
  private static func wide(_ writer: inout MessagePackWriter) -> Int {
    writer.write(UInt64.max)
    return writer.bytes.count - 8
  }

  private static func narrow(_ writer: inout MessagePackWriter) -> Int {
    writer.write(UInt64(UInt32.max))
    return writer.bytes.count - 4
  }
}
