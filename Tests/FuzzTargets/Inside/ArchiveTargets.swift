// What an archive's directory holds, perhaps damaged since.
//
//   part          [what the catalogue is wrong by, i8][part file]: read frame by frame, and on behind
//                 damage: places rise, content is whole lines, and there is an end
//   archived      [line]: what replay makes of it is an event; query and forgetting do not trap on it
//   part-name     [path]: a path that counts as a part's does not lead out of the directory
//   replay-state  the file of a replay; what reads is written as what reads the same
//   catalogue     rows of the catalogue changed so (RowChanges.swift) are refused, or read; nothing that a
//                 sink keeps traps
#if DEBUG || FUZZING
  @testable internal import Archive
  internal import BusProtocol
  internal import Compression
  internal import Database
  internal import EventCodec
  internal import EventModel
  internal import Hashing
  internal import Primitives
  internal import SinkState
  internal import Synchronization

  let archiveTargets = [
    FuzzTarget("part", seeds: partFiles, run: readPart),
    FuzzTarget("archived", seeds: archivedLines, run: readArchived),
    FuzzTarget(
      "part-name",
      seeds: [
        "date=2026-11-30/hour=08/part-1-0-99.ndjson.zst",
        "date=2026-11-30/hour=08/part-4294967295-7-18446744073709551615-r2.ndjson.zst",
        "date=2026-11-30/hour=08/.tmp-part-1-0-99.ndjson.zst", "date=../hour=08/part-1-2-3",
      ], run: namePart),
    FuzzTarget("replay-state", seeds: [replayText], run: readReplayState),
    FuzzTarget("catalogue", seeds: rowChanges.seeds, run: changeRows),
  ]

  private let archivedLines = [
    #"{"type":"track","event":"A","messageId":"m","timestamp":"2024-05-01T12:00:00.000Z","#
      + #""userId":"u\u00e4","properties":{"value":21},"receivedAt":"2024-05-01T12:00:00.5Z","offset":7,"epoch":1}"#,
    #"{"type":"alias","userId":7,"previousId":"p","timestamp":"1960-01-01T00:00:00.000Z","offset":0,"epoch":0}"#,
    #"{"type":"identify","anonymousId":"a","traits":{"a":{"b":[]}},"offset":18446744073709551615,"epoch":4294967295}"#,
  ]

  // Files

  private let partFiles: [[UInt8]] = {
    let frame = answer { () throws(CompressionError) in
      var bytes: [UInt8] = []
      var writer = try ZstdFrameWriter()
      try writer.compress(unsafe Array((archivedLines[0] + "\n").utf8).span.bytes, into: &bytes)
      return bytes
    }
    guard case .success(let bytes) = frame else { return [] }
    return [[0] + bytes, [0] + bytes + bytes, [1] + bytes, [0] + bytes.dropLast(4) + bytes]
  }()

  private func readPart(_ input: [UInt8]) throws(Violation) {
    let (wrong, file) = input.chosen
    try accepted("the scratch file") { () throws(SystemError) in
      try Scratch.write("part", file)
    }
    let counted = max(0, file.count + Int(Int8(truncatingIfNeeded: wrong)))
    let part = Part(
      path: "part", epoch: 1, first: 0, last: 9, count: 1, bytes: UInt64(counted), rawBytes: 1,
      sha256: [], timestamps: 0...0, times: 0...0, created: 0)
    var reader: PartReader
    do throws(PartReadError) {
      reader = try PartReader(Scratch.folder, part)
    } catch {
      throw Violation(description: "it does not open: \(error)")
    }
    var content: [UInt8] = []
    var last = -1
    var isOver = false
    while !isOver {
      do throws(PartDamage) {
        isOver = try !reader.next(into: &content)
      } catch {
        isOver = !reader.skipToNextFrame()
      }
      guard !isOver else { break }
      let at = Int(reader.frameStart)
      try require(at >= last && at <= file.count, "at \(at) after \(last) of \(file.count)")
      last = at
    }
  }

  private func namePart(_ input: [UInt8]) throws(Violation) {
    let path = input.text
    _ = ArchiveNames.revision(of: path)
    let name = path.split(separator: "/").last.map(String.init) ?? ""
    if let range = ArchiveNames.range(of: name) {
      try require(ArchiveNames.isOurs(file: name), "a range of \(name)")
      try require(range.lowerBound.epoch == range.upperBound.epoch, "\(range)")
    }
    guard ArchiveNames.isOurs(path: path) else { return }
    try require(!path.contains("..") && path.first != "/", "it leads out: \(path)")
    try require(path.split(separator: "/").count == 3, "\(path)")
  }

  private let replayText = """
    eventbus-replay 1
    run 3
    from -
    until 1700000000000000000
    end 1:99
    next 1:7
    acknowledged 5
    refused 0
    complete 0

    """

  private func readReplayState(_ input: [UInt8]) throws(Violation) {
    guard let state = ReplayState(text: input.text) else { return }
    try require(ReplayState(text: state.text) == state, "\(state.text)")
  }

  // Lines

  private func readArchived(_ input: [UInt8]) throws(Violation) {
    let line = input.filter { $0 != 0x0A }
    let key = [UInt8](repeating: 1, count: KeyedHash.keyBytes)
    var people = LinePeople(key: KeyedHash(key: key))
    if unsafe people.read(line.span.bytes) { _ = unsafe people.topic(line.span.bytes) }
    search(line)
    var replay = ReplayReader(archive: key)
    let position = answer { () throws(CodecError) in try unsafe replay.read(line.span.bytes) }
    guard case .success = position else { return }
    let walked = answer { () throws(PayloadError) in
      try unsafe PayloadWalker.check(replay.payload.span.bytes, name: replay.topic.span.bytes)
    }
    // The archive's own lines may be deeper than what comes in today.
    if case .failure(let error) = walked, error.reason != .tooDeep {
      throw Violation(description: "replay would send what the broker refuses: \(error)")
    }
  }

  private func search(_ line: [UInt8]) {
    var filter = ArchiveFilter()
    filter.patterns = [EventPattern(glob: Array("A*".utf8))]
    filter.user = "uä"
    filter.from = 0
    if case .success(let clause) = answer({ () throws(WhereClause.SyntaxError) in
      try WhereClause("properties.value>=21")
    }) {
      filter.clauses = [clause]
    }
    var matcher = LineMatcher(filter, outputs: [.name, .path([Array("properties".utf8)])])
    let first = Position(epoch: 0, offset: 0)
    let last = Position(epoch: .max, offset: .max)
    let part = Part(
      path: "", epoch: 0, first: 0, last: 0, count: 0, bytes: 0, rawBytes: 0, sha256: [],
      timestamps: 0...0, times: 0...0, created: 0)
    let unit = QueryPlan.Unit(
      part: part, positions: first...last, testsTime: true, testsNames: true)
    let verdict = unsafe line.withUnsafeBytes { unsafe matcher.judge($0, unit) }
    guard verdict == .wanted else { return }
    var output: [UInt8] = []
    for index in 0..<2 { unsafe matcher.append(output: index, of: line.span.bytes, to: &output) }
  }

  // Rows

  private let rowChanges = RowChanges([
    .init(
      name: "parts",
      numbers: [
        "epoch", "first", "last", "count", "bytes", "raw_bytes", "min_timestamp", "max_timestamp",
        "min_time", "max_time", "created", "covered_first", "covered_last",
      ], bytes: ["path", "sha256"]),
    .init(name: "part_names", numbers: ["count"], bytes: ["name"]),
    .init(name: "part_people", bytes: ["hashes"]),
    .init(name: "doubles", numbers: ["first", "count", "latest"], bytes: ["entries"]),
    .init(name: "double_totals", numbers: ["conflicts"]),
    .init(name: "double_conflicts", numbers: ["offset"]), forgottenTable, progressTable,
  ])

  /// One catalogue with a row in each table, in a folder that nothing is synced in.
  private final class Sample: Sendable {
    let catalogue: Mutex<Catalogue>

    init() throws(ArchiveError) {
      let catalogue = try Catalogue(
        writing: Scratch.folder, key: [UInt8](repeating: 1, count: KeyedHash.keyBytes))
      do throws(DatabaseError) {
        try catalogue.database.execute(
          """
          PRAGMA synchronous = OFF;
          DELETE FROM part_names; DELETE FROM part_people; DELETE FROM parts; DELETE FROM doubles;
          INSERT INTO parts (id, path, epoch, first, last, count, bytes, raw_bytes, sha256,
            min_timestamp, max_timestamp, min_time, max_time, created, covered_first, covered_last)
            VALUES (1, 'date=2026-11-30/hour=08/part-1-0-99.ndjson.zst', 1, 0, 99, 100, 9, 99, x'00',
            1, 2, 1, 2, 3, 0, 99);
          INSERT INTO part_names (part, name, count) VALUES (1, 'A', 100);
          INSERT INTO part_people (part, hashes) VALUES (1, x'0000000000000001');
          INSERT INTO doubles VALUES (0, 2, 9, zeroblob(48));
          INSERT OR REPLACE INTO double_conflicts VALUES (1, 1, 2, 'A', 'm');
          INSERT OR REPLACE INTO double_totals VALUES (1, 1);
          INSERT OR REPLACE INTO forgotten VALUES (zeroblob(16), 1, 2, 3);
          INSERT OR REPLACE INTO sink_progress
            VALUES (1, 1, 100, 0, 1, 0, 100, 0, 0, 0, 0, 0, 0, 0, 0)
          """)
      } catch {
        throw ArchiveError(error)
      }
      self.catalogue = Mutex(catalogue)
    }

    static let shared = answer { () throws(ArchiveError) in try Sample() }
  }

  private func changeRows(_ input: [UInt8]) throws(Violation) {
    let sample = try accepted("the sample") { () throws(ArchiveError) in try Sample.shared.get() }
    try sample.catalogue.withLock { catalogue throws(Violation) in
      try accepted("BEGIN") { () throws(DatabaseError) in
        try catalogue.database.execute("BEGIN")
      }
      try accepted("the changes") { () throws(DatabaseError) in
        try rowChanges.apply(input, to: catalogue.database)
      }
      try readRows(catalogue)
      try accepted("ROLLBACK") { () throws(DatabaseError) in
        try catalogue.database.execute("ROLLBACK")
      }
    }
  }

  private func readRows(_ catalogue: borrowing Catalogue) throws(Violation) {
    let parts = answer { () throws(ArchiveError) in
      try catalogue.parts(PartFilter(timestampFrom: 0, from: Position(epoch: 0, offset: 0)))
    }
    _ = answer { () throws(ArchiveError) in try catalogue.nameCounts() }
    if case .success(let parts) = parts {
      for part in parts {
        _ = answer { () throws(ArchiveError) in try catalogue.nameCounts(of: part) }
        _ = answer { () throws(ArchiveError) in try catalogue.people(of: part) }
        try require(!part.path.contains(".."), "\(part.path)")
      }
    }
    let key = catalogue.hash
    _ = answer { () throws(ArchiveError) in try catalogue.progress()?.ledger }
    let doubles = answer { () throws(DatabaseError) in
      var doubles = try DoublesTables.load(catalogue.database, key: key, horizon: 100)
      try DoublesTables.store(doubles, in: catalogue.database)
      doubles.markSaved()
      return doubles.conflictCount
    }
    _ = doubles
    _ = answer { () throws(DatabaseError) in
      try ForgottenTables.load(catalogue.database, key: key).count
    }
  }
#endif
