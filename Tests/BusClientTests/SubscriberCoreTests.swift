import BusProtocol
import Primitives
import Testing

@testable import BusClient

/// What a subscriber's core says to which message. Losses, duplicates and crashes are the simulation's.
struct SubscriberCoreTests {
  private static func core(
    name: String = "sink", start: StartPosition = .cursor(otherwise: .earliest),
    seekGeneration: UInt64? = nil, stopsAtGap: Bool = false
  ) -> SubscriberCore {
    SubscriberCore(
      .init(
        client: "test", name: Array(name.utf8), filters: [], start: start,
        seekGeneration: seekGeneration, reset: false, instance: [1], creditEvents: 100,
        creditBytes: 10_000, stopsAtGap: stopsAtGap), seed: 1)
  }

  private static func at(_ offset: UInt64) -> Position { Position(epoch: 1, offset: offset) }

  private func opened(
    _ core: inout SubscriberCore, token: UInt64 = 1, at offset: UInt64 = 0, generation: UInt64 = 0
  ) {
    let message = OpenedMessage(
      token: token, cursor: Self.at(offset), earliest: 0, head: 100, seekGeneration: generation,
      epochs: [.init(epoch: 1, firstOffset: 0)], broker: BrokerDescription()
    ).encode()
    unsafe core.receive(message.span.bytes, at: 0)
  }

  private func receive(_ core: inout SubscriberCore, _ message: [UInt8]) {
    unsafe core.receive(message.span.bytes, at: 0)
  }

  /// Where the OPENs among the actions ask to begin.
  private func starts(_ actions: [SubscriberAction]) throws -> [StartPosition] {
    var starts: [StartPosition] = []
    for case .send(let message) in actions {
      let bytes = unsafe message.span.bytes
      guard try MessageHeader(decoding: bytes).verb == .open else { continue }
      starts.append(try OpenMessage(decoding: bytes).start)
    }
    return starts
  }

  /// The cursors that COMMITs among the actions ask to keep.
  private func commits(_ actions: [SubscriberAction]) throws -> [Position] {
    var cursors: [Position] = []
    for case .send(let message) in actions {
      let bytes = unsafe message.span.bytes
      guard try MessageHeader(decoding: bytes).verb == .commit else { continue }
      cursors.append(try CommitMessage(decoding: bytes).cursor)
    }
    return cursors
  }

  private func reset(_ core: inout SubscriberCore, token: UInt64 = 1) throws -> [StartPosition] {
    _ = core.takeActions()
    receive(&core, MessageHeader(.reset, token: token).message)
    return try starts(core.takeActions())
  }

  @Test(
    arguments: [
      ("", .earliest, .position(at(7))), ("", .cursor(otherwise: .latest), .position(at(7))),
      ("sink", .cursor(otherwise: .earliest), .cursor(otherwise: .position(at(7)))),
      // The broker's cursor is another's until this one commits.
      ("sink", .earliest, .position(at(7))), ("sink", .position(at(7)), .position(at(7))),
    ] as [(String, StartPosition, StartPosition)])
  func `a lost session goes on where it was`(
    _ name: String, _ start: StartPosition, _ next: StartPosition
  ) throws {
    var core = Self.core(name: name, start: start)
    _ = core.tick(at: 0)
    #expect(try starts(core.takeActions()) == [start])
    opened(&core, at: 7)
    #expect(try reset(&core) == [next])
  }

  @Test func `a confirmed commit makes the broker's cursor its own`() throws {
    var core = Self.core(start: .earliest)
    _ = core.tick(at: 0)
    opened(&core, at: 7)
    core.commit(Self.at(7))
    receive(&core, CommitMessage(cursor: Self.at(7)).encode(.committed, token: 1))
    #expect(try reset(&core) == [.cursor(otherwise: .position(Self.at(7)))])
  }

  @Test func `an unconfirmed commit is asked for again in the next session`() throws {
    var core = Self.core(start: .position(Self.at(7)))
    _ = core.tick(at: 0)
    opened(&core, at: 7)
    core.commit(Self.at(7))
    #expect(try reset(&core) == [.position(Self.at(7))])
    opened(&core, token: 2, at: 7)
    #expect(try commits(core.takeActions()) == [Self.at(7)])
  }

  @Test(arguments: [StartPosition.cursor(otherwise: .earliest), .earliest])
  func `a seek moves it, also one that did not ask for the cursor`(_ start: StartPosition) throws {
    var core = Self.core(start: start)
    _ = core.tick(at: 0)
    opened(&core, at: 40)
    _ = try reset(&core)
    opened(&core, token: 2, at: 40, generation: 1)
    let asked = try starts(core.takeActions())
    if !asked.isEmpty {
      #expect(asked == [.cursor(otherwise: .position(Self.at(40)))])
      opened(&core, token: 3, at: 5, generation: 1)
      #expect(core.position == Self.at(5))
    } else {
      #expect(start == .cursor(otherwise: .earliest))
    }
    #expect(core.generation == 1)
    #expect(core.phase == .live)
  }

  @Test(arguments: [(UInt64(4), UInt64(9)), (5, 9), (6, 30)])
  func `a sink's own cursor wins unless an operator moved it since`(
    _ generation: UInt64, _ position: UInt64
  ) throws {
    var core = Self.core(start: .position(Self.at(9)), seekGeneration: 5)
    _ = core.tick(at: 0)
    #expect(try starts(core.takeActions()) == [.cursor(otherwise: .position(Self.at(9)))])
    opened(&core, at: 30, generation: generation)
    if generation <= 5 {
      #expect(try starts(core.takeActions()) == [.position(Self.at(9))])
      opened(&core, token: 2, at: 9, generation: generation)
    }
    #expect(core.position == Self.at(position))
    #expect(core.phase == .live)
  }

  /// When the core said that nobody answers, of times a tenth of a second apart.
  private func absences(_ core: inout SubscriberCore, from: Int64, to: Int64) -> [Int64] {
    (from..<to).filter { tenth in
      _ = core.tick(at: tenth * 100_000_000)
      return core.takeActions().contains { if case .notice(.absent) = $0 { true } else { false } }
    }
  }

  @Test func `a broker that does not answer for five seconds is told of once`() {
    var core = Self.core()
    #expect(absences(&core, from: 10, to: 3000) == [60])
    // It answers, and is lost for good: six seconds of heartbeats, and it is missed since the last word.
    let message = MessageHeader(.pong, token: 0).message
    unsafe core.receive(message.span.bytes, at: 300_000_000_000)
    #expect(absences(&core, from: 3000, to: 6000) == [3050])
  }

  @Test func `a session that stands is not missed, and is soon when heartbeats are not answered`() {
    var core = Self.core()
    _ = core.tick(at: 0)
    opened(&core)
    // Three heartbeats of two seconds, then the wait for an answer on the new connection.
    let told = absences(&core, from: 0, to: 600)
    #expect(told.count == 1 && (60...100).contains(told[0]), "\(told)")
  }

  @Test func `who asks to wait, or does not let in, is not absent`() {
    var core = Self.core()
    _ = core.tick(at: 0)
    for second in 0..<60 {
      let now = Int64(second) * 1_000_000_000
      core.denied("no", at: now)
      _ = core.tick(at: now)
      let actions = core.takeActions()
      #expect(!actions.contains { if case .notice(.absent) = $0 { true } else { false } })
    }
  }

  @Test func `the first batch behind a seek tells of it`() {
    var core = Self.core(start: .position(Self.at(9)), seekGeneration: 5)
    _ = core.tick(at: 0)
    opened(&core, at: 30, generation: 6)
    receive(&core, HeadMessage(head: 80, lag: 0).encode(token: 1))
    receive(&core, HeadMessage(head: 90, lag: 0).encode(token: 1))
    var seeks: [EventBatch.Seek?] = []
    for case .deliver(let batch) in core.takeActions() { seeks.append(batch.seek) }
    #expect(seeks == [EventBatch.Seek(to: Self.at(30), generation: 6), nil])
  }

  @Test(arguments: [true, false])
  func `a gap stops it or is passed`(_ stops: Bool) {
    var core = Self.core(stopsAtGap: stops)
    _ = core.tick(at: 0)
    opened(&core)
    _ = core.takeActions()
    receive(
      &core,
      GapMessage(token: 1, from: Self.at(0), to: Self.at(60), why: "retention").encode())
    let gap = SubscriberGap(from: Self.at(0), to: Self.at(60), why: "retention")
    var failures: [BusClientError] = []
    for case .failed(let error) in core.takeActions() { failures.append(error) }
    #expect(failures == (stops ? [.gap(gap)] : []))
    #expect(core.position == Self.at(stops ? 0 : 60))
    // The first batch behind it carries it.
    receive(&core, HeadMessage(head: 80, lag: 0).encode(token: 1))
    var gaps: [SubscriberGap?] = []
    for case .deliver(let batch) in core.takeActions() { gaps.append(batch.gap) }
    #expect(gaps == (stops ? [] : [gap]))
  }

  @Test(arguments: [(UInt64(60), UInt64(20)), (60, 60), (90, 20)])
  func `an epoch that began before what was given out is a gap, though the cursor is not behind it`(
    _ begins: UInt64, _ cursor: UInt64
  ) {
    var core = Self.core()
    _ = core.tick(at: 0)
    opened(&core, at: 20)
    receive(&core, HeadMessage(head: 80, lag: 0).encode(token: 1))
    receive(&core, MessageHeader(.reset, token: 1).message)
    _ = core.takeActions()
    // The journal lost its end, or an older copy of it was put in its place.
    let new = Position(epoch: 2, offset: begins)
    receive(
      &core,
      OpenedMessage(
        token: 2, cursor: cursor < begins ? Self.at(cursor) : new, earliest: 0, head: begins,
        seekGeneration: 0,
        epochs: [.init(epoch: 1, firstOffset: 0), .init(epoch: 2, firstOffset: begins)],
        broker: BrokerDescription()
      ).encode())
    receive(&core, HeadMessage(head: begins + 5, lag: 0).encode(token: 2))
    var batches: [(Position, SubscriberGap?)] = []
    for case .deliver(let batch) in core.takeActions() { batches.append((batch.end, batch.gap)) }
    #expect(batches.count == 1)
    #expect(batches.first?.0 == Position(epoch: 2, offset: begins + 5))
    let lost = SubscriberGap(from: Self.at(80), to: new, why: "epoch")
    #expect(batches.first?.1 == (begins < 80 ? lost : nil))
  }

  /// The failures among what a core wants done.
  private func failures(_ core: inout SubscriberCore) -> [BusClientError] {
    core.takeActions().compactMap { if case .failed(let error) = $0 { error } else { nil } }
  }

  @Test func `a journal that ends before what was read ends the subscriber`() {
    let error = BusClientError.journalWentBack(read: Self.at(101), head: Self.at(100))
    // What it was given, and what a sink has of its own.
    var core = Self.core()
    _ = core.tick(at: 0)
    opened(&core)
    receive(&core, HeadMessage(head: 101, lag: 0).encode(token: 1))
    receive(&core, MessageHeader(.reset, token: 1).message)
    opened(&core, token: 2)
    #expect(failures(&core) == [error])
    #expect(core.phase == .ended)
    var sink = Self.core(start: .position(Self.at(101)), seekGeneration: 0)
    _ = sink.tick(at: 0)
    opened(&sink, at: 40)
    #expect(failures(&sink).isEmpty)
    opened(&sink, token: 2, at: 100)
    #expect(failures(&sink) == [error])
  }

  @Test func `an operator's seek takes a sink back to where the journal ends`() {
    var sink = Self.core(start: .position(Self.at(101)), seekGeneration: 0)
    _ = sink.tick(at: 0)
    opened(&sink, at: 40, generation: 1)
    #expect(failures(&sink).isEmpty)
    #expect(sink.phase == .live)
  }

  @Test func `what another session or a newer instance says ends or changes nothing else`() {
    var core = Self.core()
    _ = core.tick(at: 0)
    opened(&core, token: 5)
    _ = core.takeActions()
    receive(&core, MessageHeader(.fenced, token: 4).message)
    receive(&core, HeadMessage(head: 80, lag: 0).encode(token: 4))
    #expect(core.phase == .live)
    #expect(core.position == Self.at(0))
    receive(&core, MessageHeader(.fenced, token: 5).message)
    #expect(core.phase == .ended)
  }

  @Test func `a silent broker is left after three heartbeats`() {
    var core = Self.core()
    _ = core.tick(at: 0)
    opened(&core)
    _ = core.takeActions()
    var now: Int64 = 0
    for _ in 0..<4 {
      now += core.session.heartbeat
      _ = core.tick(at: now)
    }
    var reconnects = 0
    for case .reconnect in core.takeActions() { reconnects += 1 }
    #expect(reconnects == 1)
    #expect(core.phase != .live)
  }
}
