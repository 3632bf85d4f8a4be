// What the services wrote themselves, perhaps damaged since.
//
//   aggregate  [kind u8][bytes]: a stored state that reads is written as bytes that read as the same
//   snapshot   the broker's tables; what reads is written as what reads alike
//   keys       the broker's file of keys; what parses is written as what parses alike
//   zone       a file of the zone database
//   line       [archived line]: the values that the scanner finds lie inside the line
#if DEBUG || FUZZING
  @testable internal import Aggregation
  @testable internal import Archive
  @testable internal import BusBroker
  internal import EventJournal
  internal import Primitives

  let stateTargets = [
    FuzzTarget("aggregate", seeds: states, run: readState),
    FuzzTarget("snapshot", seeds: snapshots, run: readSnapshot),
    FuzzTarget("keys", seeds: [keyFile], run: readKeys),
    FuzzTarget("zone", seeds: zones, run: readZone),
    FuzzTarget(
      "line",
      seeds: [
        #"{"type":"track","event":"A","properties":{"value":21,"list":[1,[2]]},"offset":7,"epoch":1}"#,
        #"{"properties":{"a":{"b":"\"\\"}},"offset":18446744073709551615,"epoch":4294967295}"#,
      ], run: scanLine),
  ]

  private let states: [[UInt8]] = {
    var writers = (0..<8).map { _ in StateWriter() }
    var distinct = DistinctSet()
    var quantiles = QuantileSketch()
    for value in 1...5 as ClosedRange<UInt64> {
      distinct.insert(value &* 0x9E37_79B9_7F4A_7C15)
      quantiles.insert(Double(value) * 1.5)
    }
    distinct.encode(to: &writers[0])
    quantiles.encode(to: &writers[1])
    TopValues().encode(to: &writers[2])
    NumberSummary().encode(to: &writers[3])
    for value in 0..<2000 as Range<UInt64> {
      distinct.insert(value &* 0x9E37_79B9_7F4A_7C15, exactly: 10)
      quantiles.insert(Double(value))
    }
    distinct.encode(to: &writers[4])
    quantiles.encode(to: &writers[5])
    let kinds: [UInt8] = [0, 1, 2, 3, 0, 1, 4, 5]
    return zip(kinds, writers).map { [$0] + $1.bytes }
      + [4, 5, 6, 7].map { [$0, 1, 1, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10] }
  }()

  private func readState(_ input: [UInt8]) throws(Violation) {
    let (kind, bytes) = input.chosen
    switch kind % 8 {
    case 0: if let set = try state(DistinctSet.self, bytes) { _ = set.count }
    case 1:
      if let sketch = try state(QuantileSketch.self, bytes) { _ = sketch.quantiles([0, 0.5, 1]) }
    case 2: if let values = try state(TopValues.self, bytes) { _ = values.sorted() }
    case 3: if let summary = try state(NumberSummary.self, bytes) { _ = summary.mean }
    case 4: _ = try state(Histogram.self, bytes)
    case 5: _ = try state(RetentionTrack.self, bytes)
    case 6: _ = try state(FunnelTrack.self, bytes)
    default: _ = try state(SessionTrack.self, bytes)
    }
  }

  private func state<T: StateCoded>(_ type: T.Type, _ bytes: [UInt8]) throws(Violation) -> T? {
    let read = answer { () throws(StateError) in
      var reader = StateReader(bytes)
      return try T(from: &reader)
    }
    guard case .success(let value) = read else { return nil }
    var once = StateWriter()
    value.encode(to: &once)
    let again = try accepted("what was written") { () throws(StateError) in
      var reader = StateReader(once.bytes)
      return try T(from: &reader)
    }
    var twice = StateWriter()
    again.encode(to: &twice)
    // A set is written in the order of its table.
    try require(once.bytes.sorted() == twice.bytes.sorted(), "\(value) became \(again)")
    return value
  }

  private func tables() -> (NameTable, ProducerTable) {
    (NameTable(limit: 100), ProducerTable(limit: 100, idle: .seconds(1)))
  }

  private let snapshots: [[UInt8]] = {
    var (names, producers) = tables()
    let empty = BrokerSnapshot.encode(names: names, producers: producers)
    let name = Array("Game Ended".utf8)
    unsafe names.restore(name.span.bytes, lastSequence: 3, time: 4)
    producers.restore(.init(high: 1, low: 2), .init(lastSequence: 1, lastTime: 2, events: 3))
    return [empty, BrokerSnapshot.encode(names: names, producers: producers)]
  }()

  private func readSnapshot(_ input: [UInt8]) throws(Violation) {
    var (names, producers) = tables()
    let read = answer { () throws(BrokerSnapshotError) in
      try BrokerSnapshot.restore(input, names: &names, producers: &producers)
    }
    guard case .success = read else { return }
    let written = BrokerSnapshot.encode(names: names, producers: producers)
    var (again, producersAgain) = tables()
    try accepted("what was written") { () throws(BrokerSnapshotError) in
      try BrokerSnapshot.restore(written, names: &again, producers: &producersAgain)
    }
    try require(
      again.count == names.count && again.lastSequence == names.lastSequence
        && producersAgain.entries == producers.entries, "other tables")
  }

  private let keyFile = """
    eventbus-keys 1
    # a remark
    key rq:rM>}U?@Lns47E1%kR.o@n%FcmmsL/@{H8]yf7 game
      since 2026-11-30T10:00:00.000Z
      publish Game *
      subscribe *
      administer me

    """

  private func readKeys(_ input: [UInt8]) throws(Violation) {
    let read = answer { () throws(AccessFile.Failure) in try AccessFile.parse(input, path: "keys") }
    guard case .success(let keys) = read else { return }
    let text = AccessFile.text(keys)
    let again = try accepted("what was written") { () throws(AccessFile.Failure) in
      try AccessFile.parse(Array(text.utf8), path: "keys")
    }
    try require(AccessFile.text(again) == text, "\(text) became \(AccessFile.text(again))")
  }

  private let zones: [[UInt8]] = {
    let head = Array("TZif".utf8) + [UInt8(ascii: "2")] + [UInt8](repeating: 0, count: 15)
    let counts: [UInt8] = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 4]
    let name: [UInt8] = [0, 0, 14, 16, 0, 0, 67, 69, 84, 0]
    let first = head + counts + [0, 0, 0, 1, 0] + name
    let second = head + counts + [0, 0, 0, 0, 0, 0, 0, 1, 0] + name
    return [first + second + Array("\nCET-1CEST,M3.5.0,M10.5.0/3\n".utf8)]
  }()

  private func readZone(_ input: [UInt8]) throws(Violation) {
    guard let zone = ZoneFile(input) else { return }
    for (one, next) in zip(zone.transitions, zone.transitions.dropFirst()) {
      try require(one.time < next.time, "\(next) after \(one)")
    }
    _ = PosixRule(zone.rule)
  }

  private func scanLine(_ input: [UInt8]) throws(Violation) {
    var paths = LinePaths()
    for path in [
      ["event"], ["properties", "value"], ["properties", "list", "1"], ["a", "b", "c"],
    ] {
      _ = paths.add(path.map { Array($0.utf8) })
    }
    var scanner = LineScanner(paths)
    let isObject = unsafe input.withUnsafeBytes { unsafe scanner.scan($0) }
    _ = unsafe input.withUnsafeBytes { unsafe LineTail.position($0) }
    guard isObject else { return }
    for range in scanner.found {
      try require(range.lowerBound >= 0 && range.upperBound <= input.count, "\(range)")
      _ = unsafe input[range].withUnsafeBytes { unsafe LineTime.nanoseconds($0) }
    }
  }
#endif
