import EventCodec
import EventModel
import Primitives
import Testing

@testable import LoadTest

/// Each kind of fault is planted and must be found, at its place and in its number.
@Suite struct VerdictTests {
  enum Fault: CaseIterable { case lose, double, swap, flip, cut, invent }

  /// Two producers' events as one subscriber gets them.
  static func events(_ each: Int, size: Int = 200) -> [[UInt8]] {
    var writers = (0..<2).map { ProbeWriter(run: 42, producer: $0, size: size, clockOffset: 0) }
    return (0..<2 * each).map { index in
      writers[index % 2].write(
        sequence: UInt64(index / 2), intended: Int64(index) * 1000, isWarmUp: index < 10)
      return writers[index % 2].bytes
    }
  }

  static func verdict(_ events: [[UInt8]], published: Int, size: Int = 200) -> Verdict {
    let reader = ProbeReader(run: 42, size: size)
    var tally = SubscriberTally(producers: 2)
    for event in events { _ = unsafe tally.take(reader.read(event.span.bytes)) }
    var producer = ProducerTally()
    producer.published = UInt64(published)
    producer.acknowledged = UInt64(published)
    return Verdict([producer, producer], [tally])
  }

  @Test func `what came whole and in order is clean`() {
    let verdict = Self.verdict(Self.events(1000), published: 1000)
    #expect(verdict.isClean, "\(verdict)")
  }

  @Test(arguments: Fault.allCases, 0..<20)
  func `a planted fault is found`(_ fault: Fault, _ seed: UInt64) {
    var random = SeededRandom(seed: seed)
    var events = Self.events(500)
    let at = Int(random.next() % 900) + 20
    var expected = Verdict([], [])
    switch fault {
    case .lose:
      let count = Int(random.next() % 50) + 1
      events.removeSubrange(at..<at + count)
      expected.lost = UInt64(count)
    case .double:
      events.insert(events[at], at: at + Int(random.next() % 20))
      expected.duplicated = 1
    case .swap:
      // The same producer's next event comes first.
      events.swapAt(at, at + 2)
      expected.reordered = 1
    case .flip:
      let byte = Int(random.next() % UInt64(events[at].count))
      events[at][byte] ^= UInt8(1) << UInt8(random.next() % 8)
      (expected.corrupted, expected.lost) = (1, 1)
    case .cut:
      events[at].removeLast(Int(random.next() % UInt64(events[at].count)) + 1)
      (expected.corrupted, expected.lost) = (1, 1)
    case .invent:
      var writer = ProbeWriter(run: 42, producer: 2, size: 200, clockOffset: 0)
      writer.write(sequence: 0, intended: 0, isWarmUp: false)
      events.insert(writer.bytes, at: at)
      expected.invented = 1
    }
    #expect(Self.verdict(events, published: 500) == expected)
  }

  @Test func `the end of the events is missed too`() {
    #expect(Self.verdict(Self.events(480), published: 500).lost == 40)
  }

  @Test func `events beyond the last published are invented`() {
    #expect(Self.verdict(Self.events(500), published: 499).invented == 2)
  }

  @Test func `an event without an answer may be missing, an acknowledged one may not`() {
    var producer = ProducerTally()
    producer.published = 10
    producer.acknowledged = 8
    var tally = SubscriberTally(producers: 1)
    for sequence in 0..<7 { tally.sequences[0].take(UInt64(sequence)) }
    let verdict = Verdict([producer], [tally])
    #expect(verdict.lost == 1)
    #expect(verdict.unacknowledged == 2)
    #expect(!verdict.isClean)
  }

  @Test func `each subscriber's faults count`() {
    var (whole, less) = (SubscriberTally(producers: 1), SubscriberTally(producers: 1))
    for sequence in 0..<10 { whole.sequences[0].take(UInt64(sequence)) }
    for sequence in 0..<9 { less.sequences[0].take(UInt64(sequence)) }
    var producer = ProducerTally()
    (producer.published, producer.acknowledged) = (10, 10)
    #expect(Verdict([producer], [whole, whole]).isClean)
    #expect(Verdict([producer], [whole, less]).lost == 1)
  }

  @Test func `another test on the same bus is no fault`() {
    var writer = ProbeWriter(run: 7, producer: 0, size: 300, clockOffset: 0)
    writer.write(sequence: 0, intended: 0, isWarmUp: false)
    let verdict = Self.verdict(Self.events(50) + [writer.bytes], published: 50)
    #expect(verdict.isClean, "\(verdict)")
  }

  @Test func `a shuffled stream is told from a lossy one`() {
    for seed in 0..<50 as Range<UInt64> {
      var random = SeededRandom(seed: seed)
      var sequences = Array(0..<400 as Range<UInt64>)
      sequences.shuffle(using: &random)
      var tally = SequenceTally()
      for sequence in sequences { tally.take(sequence) }
      var highest: UInt64 = 0
      let late = sequences.count { sequence in
        defer { highest = max(highest, sequence) }
        return sequence < highest
      }
      #expect(tally.received == 400)
      #expect(tally.duplicated == 0)
      #expect(tally.missing == 0)
      #expect(tally.reordered == UInt64(late))
    }
  }

  @Test func `holes are bounded and the oldest counts as lost`() {
    var tally = SequenceTally()
    let holes = UInt64(SequenceTally.maximumHoles)
    for hole in 0...holes { tally.take(2 * hole + 1) }
    tally.take(0)
    #expect(tally.duplicated == 1)
    tally.take(2)
    #expect(tally.reordered == 1)
    #expect(tally.missing == holes)
  }
}

@Suite struct ProbeEventTests {
  @Test(arguments: [0, ProbePlaces.minimumSize, 200, 231, 232, 500, 700, 70_000])
  func `an event has the size asked for and is an ordinary event`(_ size: Int) throws {
    var writer = ProbeWriter(
      run: 9, producer: 3, size: size, clockOffset: 1_700_000_000_000_000_000)
    writer.write(sequence: 77, intended: 1_000_000, isWarmUp: true)
    let bytes = writer.bytes
    if size > ProbePlaces.minimumSize { #expect(abs(bytes.count - size) <= 2) }
    #expect(
      unsafe ProbeReader(run: 9, size: size).read(bytes.span.bytes)
        == .event(producer: 3, sequence: 77, intended: 1_000_000, isWarmUp: true))
    let envelope = try unsafe EventEnvelope(payload: bytes.span.bytes)
    #expect(envelope.event == ProbeWriter.name)
    #expect(envelope.messageId == "0000000000000009" + "0003" + "00000000004d")
    #expect(envelope.timestamp?.nanoseconds == 1_700_000_000_001_000_000)
    #expect(envelope.properties?["s"] == .int(77))
  }
}
