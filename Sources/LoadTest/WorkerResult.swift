// What a worker leaves in a file when it ends, MessagePack: a list of
//
//   producer    1, published, acknowledged, refused, first, last, cpu, memory, gaveUp, lateness
//   subscriber  2, measured, first, last, cpu, memory, gaps, corrupted, invented, foreign, latencies,
//               then a list of [received, duplicated, reordered, next] for each producer
//
// A histogram is [clamped, minimum, maximum, slot, count, slot, count, ...]. Written and read by the same
// build of the program, so there is no version; times are monotonic nanoseconds.
public import Primitives

/// What one producer did.
public struct ProducerResult: Hashable, Sendable {
  public var tally = ProducerTally()
  /// The start of the schedule, and the last acknowledgement.
  public var first: Int64 = 0
  public var last: Int64 = 0
  /// CPU nanoseconds of its process, and its resident bytes at the end.
  public var cpu: Int64 = 0
  public var memory: Int64 = 0
  /// It fell so far behind its schedule that it stopped.
  public var gaveUp = false
  /// How much later than intended it called `publish`: the load generator's own part of all latencies.
  public var lateness = LatencyHistogram()

  public init() {}

  public var bytes: [UInt8] {
    var writer = MessagePackWriter()
    writer.writeArrayHeader(10)
    writer.write(1)
    for count in [tally.published, tally.acknowledged, tally.refused] { writer.write(count) }
    for number in [first, last, cpu, memory] { writer.write(number) }
    writer.write(gaveUp)
    lateness.write(to: &writer)
    return writer.bytes
  }

  public init(_ bytes: RawSpan) throws(MessagePackError) {
    var reader = MessagePackReader(bytes)
    guard try reader.readArrayHeader() == 10, try reader.readInt() == 1 else {
      throw MessagePackError(.wrongType, at: 0)
    }
    tally.published = try reader.readUInt()
    tally.acknowledged = try reader.readUInt()
    tally.refused = try reader.readUInt()
    first = try reader.readInt()
    last = try reader.readInt()
    cpu = try reader.readInt()
    memory = try reader.readInt()
    gaveUp = try reader.readBool()
    lateness = try LatencyHistogram(reading: &reader)
  }
}

/// What one subscriber got.
public struct SubscriberResult: Hashable, Sendable {
  public var tally: SubscriberTally
  /// Events behind the warm-up, and when the first and last of them came.
  public var measured: UInt64 = 0
  public var first: Int64 = 0
  public var last: Int64 = 0
  public var cpu: Int64 = 0
  public var memory: Int64 = 0
  /// Times that the bus said events were missing.
  public var gaps: UInt64 = 0
  /// From the intended time of sending to the moment at which the program has the event.
  public var latencies = LatencyHistogram()

  public init(producers: Int) { tally = SubscriberTally(producers: producers) }

  /// Events a second between the first and the last that counts.
  public var rate: Double {
    last > first ? Double(measured - 1) * 1e9 / Double(last - first) : 0
  }

  /// All events, the warm-up's too, by the time from `start` (monotonic nanoseconds) to the last of them.
  public func rate(since start: Int64) -> Double {
    measured == 0 ? 0 : Double(tally.received) * 1e9 / Double(max(1, last - start))
  }

  public var bytes: [UInt8] {
    var writer = MessagePackWriter()
    writer.writeArrayHeader(12)
    writer.write(2)
    writer.write(measured)
    for number in [first, last, cpu, memory] { writer.write(number) }
    for count in [gaps, tally.corrupted, tally.invented, tally.foreign] { writer.write(count) }
    latencies.write(to: &writer)
    writer.writeArrayHeader(tally.sequences.count)
    for one in tally.sequences {
      writer.writeArrayHeader(4)
      for count in [one.received, one.duplicated, one.reordered, one.next] { writer.write(count) }
    }
    return writer.bytes
  }

  public init(_ bytes: RawSpan) throws(MessagePackError) {
    var reader = MessagePackReader(bytes)
    guard try reader.readArrayHeader() == 12, try reader.readInt() == 2 else {
      throw MessagePackError(.wrongType, at: 0)
    }
    tally = SubscriberTally(producers: 0)
    measured = try reader.readUInt()
    first = try reader.readInt()
    last = try reader.readInt()
    cpu = try reader.readInt()
    memory = try reader.readInt()
    gaps = try reader.readUInt()
    tally.corrupted = try reader.readUInt()
    tally.invented = try reader.readUInt()
    tally.foreign = try reader.readUInt()
    latencies = try LatencyHistogram(reading: &reader)
    for _ in 0..<(try reader.readArrayHeader()) {
      _ = try reader.readArrayHeader()
      var one = SequenceTally()
      one.received = try reader.readUInt()
      one.duplicated = try reader.readUInt()
      one.reordered = try reader.readUInt()
      one.next = try reader.readUInt()
      tally.sequences.append(one)
    }
  }
}

extension LatencyHistogram {
  func write(to writer: inout MessagePackWriter) {
    let filled = filled
    writer.writeArrayHeader(3 + 2 * filled.count)
    writer.write(clamped)
    writer.write(minimum)
    writer.write(maximum)
    for (slot, count) in filled {
      writer.write(slot)
      writer.write(count)
    }
  }

  init(reading reader: inout MessagePackReader) throws(MessagePackError) {
    let count = try reader.readArrayHeader()
    let clamped = try reader.readUInt()
    let minimum = try reader.readInt()
    let maximum = try reader.readInt()
    var filled: [(slot: Int, count: UInt64)] = []
    for _ in 0..<max(0, (count - 3) / 2) {
      let slot = Int(clamping: try reader.readInt())
      filled.append((slot: slot, count: try reader.readUInt()))
    }
    self.init(filled: filled, clamped: clamped, minimum: minimum, maximum: maximum)
  }
}
