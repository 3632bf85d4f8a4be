import BusProtocol
import SinkState
import Testing

@testable import Inspection

@Suite struct DoctorTests {
  static func status(_ change: (inout ControlMap) -> Void = { _ in }) -> ControlMap {
    var map = ControlMap()
    map["version"] = .text("1.0")
    map["durability"] = .text("fsync")
    map["trouble"] = .text("")
    map["epoch"] = .number(1)
    map["earliest"] = .number(0)
    map["head"] = .number(100)
    map["ledger"] = .map(ledger(received: 100, stored: 100))
    map["consumers"] = .list([.map(consumer("archiver", cursor: 100))])
    change(&map)
    return map
  }

  static func ledger(received: UInt64, stored: UInt64, inFlight: UInt64 = 0) -> ControlMap {
    var map = ControlMap()
    map["received"] = .number(received)
    map["stored"] = .number(stored)
    map["bytesInFlight"] = .number(inFlight)
    return map
  }

  static func consumer(
    _ name: String, cursor: UInt64, lag: UInt64 = 0, connected: Bool = true, generation: UInt64 = 0,
    missed: UInt64 = 0
  ) -> ControlMap {
    var map = ControlMap()
    map["name"] = .text(name)
    map["cursor"] = .number(cursor)
    map["epoch"] = .number(1)
    map["lag"] = .number(lag)
    map["connected"] = .flag(connected)
    map["generation"] = .number(generation)
    map["missed"] = .number(missed)
    return map
  }

  static func sink(
    cursor: UInt64 = 100, _ change: (inout SinkLedger) -> Void = { $0.applied = 100 }
  )
    -> DoctorFacts.Sink
  {
    var ledger = SinkLedger(start: Position(epoch: 1, offset: 0))
    change(&ledger)
    var sink = DoctorFacts.Sink(name: "archiver", file: "archive/catalogue.sqlite")
    sink.progress = SinkProgress(
      cursor: Position(epoch: 1, offset: cursor), seekGeneration: 0, ledger: ledger)
    return sink
  }

  static func facts(
    _ status: ControlMap? = status(), sinks: [DoctorFacts.Sink] = [sink()]
  ) -> DoctorFacts {
    var facts = DoctorFacts(
      now: 1_800_000_000_000_000_000, version: "1.0", bus: "tcp://127.0.0.1:7400", data: "data")
    facts.broker = status.map { .answered($0) } ?? .silent(why: "no answer", somebodyListens: false)
    facts.sinks = sinks
    facts.openFiles = (1024, 1_048_576)
    return facts
  }

  static func outcome(_ name: String, _ facts: DoctorFacts) -> DoctorCheck.Outcome? {
    Doctor.checks(facts).first { $0.name == name }?.outcome
  }

  @Test func `a system in order has no failure`() {
    let checks = Doctor.checks(Self.facts())
    let failures = checks.filter(\.isFailure)
    #expect(failures.isEmpty, "\(failures)")
    #expect(Doctor.verdict(checks) == .healthy)
    #expect(Self.outcome("ledger archiver", Self.facts()) == .ok)
    #expect(Self.outcome("cursor archiver", Self.facts()) == .ok)
  }

  @Test func `every failure says what to do`() {
    var facts = Self.facts(nil)
    facts.journal = .unreadable(why: "no right")
    facts.disk = .init(free: 1, total: 100, freeFiles: 5)
    facts.services = [.init(name: "archiver", address: "a", isExpected: true, answer: .down)]
    let failures = Doctor.checks(facts).filter(\.isFailure)
    #expect(failures.map(\.name) == ["broker", "journal", "disk", "service archiver"])
    #expect(failures.allSatisfy { !$0.advice.isEmpty })
    #expect(Doctor.verdict(failures) == .failing)
  }

  @Test func `one event that a ledger does not explain is found`() {
    let facts = Self.facts(sinks: [Self.sink { $0.applied = 99 }])
    #expect(Self.outcome("ledger archiver", facts) == .unaccounted)
    #expect(Doctor.verdict(Doctor.checks(facts)) == .unaccounted)
    let twice = Self.facts(sinks: [Self.sink { $0.applied = 101 }])
    #expect(Self.outcome("ledger archiver", twice) == .unaccounted)
  }

  @Test func `each way an event may end counts`() {
    let facts = Self.facts(
      sinks: [
        Self.sink {
          $0.applied = 50
          $0.duplicate = 10
          $0.refused = 10
          $0.dead = 10
          $0.forgotten = 10
          $0.notMatched = 10
        }
      ])
    #expect(Self.outcome("ledger archiver", facts) == .ok)
  }

  @Test func `events that were gone before they were read are unaccounted for`() {
    let facts = Self.facts(
      sinks: [
        Self.sink {
          $0.applied = 90
          $0.missing = 10
        }
      ])
    #expect(Self.outcome("ledger archiver", facts) == .unaccounted)
  }

  @Test func `a broker whose ledger does not add up is found, events on their way do not count`() {
    let lost = Self.status { $0["ledger"] = .map(Self.ledger(received: 101, stored: 100)) }
    #expect(Self.outcome("ledger broker", Self.facts(lost)) == .unaccounted)
    let underWay = Self.status {
      $0["ledger"] = .map(Self.ledger(received: 101, stored: 100, inFlight: 200))
    }
    #expect(Self.outcome("ledger broker", Self.facts(underWay)) == .ok)
  }

  @Test(
    arguments: [
      (100, 100, DoctorCheck.Outcome.ok),
      // The sink has stored its own cursor and not yet told the broker.
      (100, 60, .ok),
      // It was set back: the broker may delete what it wants again.
      (60, 100, .unaccounted),
      // The broker's journal is older than what the sink has read.
      (120, 100, .unaccounted),
    ] as [(UInt64, UInt64, DoctorCheck.Outcome)])
  func `a sink's cursor and the broker's agree or are told apart`(
    _ row: (sink: UInt64, broker: UInt64, outcome: DoctorCheck.Outcome)
  ) {
    let status = Self.status {
      $0["consumers"] = .list([.map(Self.consumer("archiver", cursor: row.broker))])
    }
    let facts = Self.facts(status, sinks: [Self.sink(cursor: row.sink) { $0.applied = row.sink }])
    #expect(Self.outcome("cursor archiver", facts) == row.outcome)
  }

  @Test
  func `a cursor to where a new epoch begins is the broker's, which counts it to the new one`() {
    var known = Self.consumer("archiver", cursor: 100)
    known["epoch"] = .number(2)
    let status = Self.status { [known] in $0["consumers"] = .list([.map(known)]) }
    var facts = Self.facts(status, sinks: [Self.sink(cursor: 100) { $0.applied = 100 }])
    facts.headAfter = Position(epoch: 2, offset: 100)
    #expect(Self.outcome("cursor archiver", facts) == .ok)
  }

  @Test func `a sink that read on while it was looked at is not ahead of the broker`() {
    var facts = Self.facts(sinks: [Self.sink(cursor: 120) { $0.applied = 120 }])
    facts.headAfter = Position(epoch: 1, offset: 130)
    #expect(Self.outcome("cursor archiver", facts) == .ok)
  }

  @Test func `a seek that the sink has yet to follow is no fault`() {
    let status = Self.status {
      $0["consumers"] = .list([.map(Self.consumer("archiver", cursor: 100, generation: 3))])
    }
    let facts = Self.facts(status, sinks: [Self.sink(cursor: 50) { $0.applied = 50 }])
    #expect(Self.outcome("cursor archiver", facts) == .note)
  }

  @Test(arguments: [
    (consumer("x", cursor: 1), DoctorCheck.Outcome.ok),
    (consumer("x", cursor: 1, lag: 2_000_000), .failed),
    (consumer("x", cursor: 1, connected: false), .note),
    (consumer("x", cursor: 1, lag: 5, connected: false), .failed),
    (consumer("x", cursor: 1, missed: 1), .unaccounted),
  ])
  func `a subscriber of the user's is judged by what the broker says`(
    _ row: (consumer: ControlMap, outcome: DoctorCheck.Outcome)
  ) {
    let status = Self.status { $0["consumers"] = .list([.map(row.consumer)]) }
    #expect(Self.outcome("lag x", Self.facts(status, sinks: [])) == row.outcome)
  }

  @Test(
    arguments: [(5, .ok), (2_000_000, .failed), (nil, .failed)]
      as [(UInt64?, DoctorCheck.Outcome)])
  func `a service that has read what it commits later is not behind`(
    _ row: (unread: UInt64?, outcome: DoctorCheck.Outcome)
  ) {
    let status = Self.status {
      $0["consumers"] = .list([.map(Self.consumer("archiver", cursor: 100, lag: 2_000_000))])
    }
    var facts = Self.facts(status)
    facts.services = [
      .init(name: "archiver", address: "http://127.0.0.1:1", isExpected: true, answer: .ready)
    ]
    facts.services[0].unread = row.unread
    #expect(Self.outcome("lag archiver", facts) == row.outcome)
  }

  @Test func `what is down does not keep the rest from being looked at`() {
    var facts = Self.facts(nil)
    facts.archive = .init(directory: "archive")
    let names = Doctor.checks(facts).map(\.name)
    #expect(names.contains("ledger archiver"))
    #expect(names.contains("archive"))
    #expect(Self.outcome("cursor archiver", facts) == .skipped)
  }

  @Test func `with the broker down its journal says how far sinks may be`() {
    var facts = Self.facts(nil, sinks: [Self.sink(cursor: 120) { $0.applied = 120 }])
    facts.journal = .read(
      .init(earliest: 0, head: 120, epoch: 1, bytes: 10, damages: [], isWhole: true))
    #expect(Self.outcome("cursor archiver", facts) == .ok)
    facts.journal = .read(
      .init(earliest: 0, head: 119, epoch: 1, bytes: 10, damages: [], isWhole: true))
    #expect(Self.outcome("cursor archiver", facts) == .unaccounted)
  }

  @Test func `a missing archive file, damage and dropped dead letters are losses`() {
    var facts = Self.facts()
    facts.archive = .init(directory: "archive")
    facts.archive?.missingFiles = ["date=2026-01-01/hour=00/part-1-0-9.ndjson.zst"]
    facts.journal = .read(
      .init(earliest: 0, head: 9, epoch: 1, bytes: 10, damages: ["file 3"], isWhole: true))
    facts.sinks[0].lettersDropped = 1
    for name in ["archive", "journal", "dead letters archiver"] {
      #expect(Self.outcome(name, facts) == .unaccounted, "\(name)")
    }
  }

  @Test(
    arguments: [
      (90, false, DoctorCheck.Outcome.note), (90, true, .ok), (10, false, .ok),
    ] as [(UInt64, Bool, DoctorCheck.Outcome)])
  func `who is away and holds most of a large journal is named`(
    _ row: (lag: UInt64, connected: Bool, outcome: DoctorCheck.Outcome)
  ) {
    let reader = Self.consumer(
      "reader", cursor: 100 - row.lag, lag: row.lag, connected: row.connected)
    let status = Self.status {
      $0["journalBytes"] = .number(2 << 30)
      $0["consumers"] = .list([.map(reader)])
    }
    #expect(Self.outcome("retention", Self.facts(status, sinks: [])) == row.outcome)
  }

  @Test func `an event from the future shows a clock that went back`() {
    var name = ControlMap()
    name["name"] = .text("A")
    name["lastTime"] = .number(1_800_000_060_000_000_000)
    let facts = Self.facts(Self.status { $0["names"] = .list([.map(name)]) })
    #expect(Self.outcome("clock", facts) == .failed)
  }
}
