import BusProtocol
import EventCodec
import Primitives
import Testing

@testable import Archive

@Suite struct LineScannerTests {
  @Test(arguments: [
    ("properties.status", "200"), ("properties.list.1", "\"b\""), ("properties.list.01", "\"b\""),
    ("properties.list", "[1,\"b\",{\"c\":[]}]"), ("properties.list.2.c", "[]"),
    ("userId", "\"u1\""),
    ("properties.q\"uote", "true"), ("properties.a\\.b", "null"), ("properties.nothing", nil),
    ("userId.deeper", nil), ("properties.list.3", nil), ("properties.list.-1", nil),
    ("properties.after", "\"}],{[\\\\\""),
  ])
  func `a value is found at its path`(_ row: (path: String, value: String?)) throws {
    let line =
      #"{"type":"track","userId":"u1","properties":{"list":[1,"b",{"c":[]}],"q\"uote":true,"#
      + #""a.b":null,"status":200,"status":404,"after":"}],{[\\"},"epoch":1}"#
    #expect(try find([row.path], Array(line.utf8)) == [row.value])
  }

  @Test func `several paths are found in one pass, whatever their order and depth`() throws {
    let line = #"{"a":{"b":{"c":1},"d":"x"},"e":[{"f":2},3],"g":null}"#
    let paths = ["g", "a.d", "a", "e.0.f", "a.b.c", "e.1", "a.b", "h", "e.0.h"]
    #expect(
      try find(paths, Array(line.utf8)) == [
        "null", "\"x\"", "{\"b\":{\"c\":1},\"d\":\"x\"}", "2", "1", "3", "{\"c\":1}", nil, nil,
      ])
  }

  @Test func `a condition gives the same answer on a line as on the payload`() throws {
    var events = RandomEvents(seed: 20_261_130)
    var held = 0
    var rounds = 0
    for _ in 0..<1500 {
      let payload = try RandomEvents.payload(events.json())
      let line = try RandomEvents.line(payload)
      let clauses = try (0..<8).map { _ in try WhereClause(condition(&events)) }
      var paths = LinePaths()
      let numbers = clauses.map { paths.add($0.path) }
      var scanner = LineScanner(paths)
      let scanned = unsafe line.withUnsafeBytes { unsafe scanner.scan($0) }
      try #require(scanned)
      for (clause, number) in zip(clauses, numbers) {
        let range = scanner.found[number]
        let onLine = unsafe clause.matches(
          json: range.isEmpty ? nil : line.span.bytes.extracting(range))
        let onPayload = unsafe clause.matches(payload.span.bytes)
        #expect(onLine == onPayload, "\(clause) on \(String(decoding: line, as: UTF8.self))")
        held += onPayload ? 1 : 0
        rounds += 1
      }
    }
    // Neither answer may be rare, or nothing was compared.
    #expect(held > rounds / 20 && held < rounds * 19 / 20)
  }

  @Test func `no change to a line makes the scanner trap`() throws {
    var events = RandomEvents(seed: 7)
    var paths = LinePaths()
    for path in ["properties.plan", "properties.0.1", "event", "context.properties", "timestamp"] {
      _ = paths.add(WhereClause.keys(ofPath: path))
    }
    var scanner = LineScanner(paths)
    var refused = 0
    for _ in 0..<60 {
      let line = try RandomEvents.line(RandomEvents.payload(events.json()))
      for at in line.indices {
        var changed = line
        changed[at] = UInt8.random(in: 0...255, using: &events.random)
        refused += look(&scanner, changed) ? 0 : 1
        refused += look(&scanner, Array(line[..<at])) ? 0 : 1
      }
    }
    #expect(refused > 1000)
  }

  /// Whether the scanner took it; what it found lies inside.
  private func look(_ scanner: inout LineScanner, _ line: [UInt8]) -> Bool {
    let taken = unsafe line.withUnsafeBytes { unsafe scanner.scan($0) }
    if taken {
      for range in scanner.found { #expect(range.upperBound <= line.count) }
    }
    _ = unsafe line.withUnsafeBytes { unsafe LineTail.position($0) }
    return taken
  }

  @Test(arguments: [
    (#"{"a":1,"offset":7,"epoch":2}"#, Position(epoch: 2, offset: 7)),
    (
      #"{"offset":1,"offset":18446744073709551615,"epoch":4294967295}"#,
      Position(epoch: .max, offset: .max)
    ),
    (#"{"a":1,"offset":18446744073709551616,"epoch":2}"#, nil),
    (#"{"a":1,"offset":7,"epoch":4294967296}"#, nil), (#"{"offset":7,"epoch":2}"#, nil),
    (#"{"a":1,"offset":7,"epoch":}"#, nil), ("", nil), ("}", nil),
    (#"{"a":1,"offset":,"epoch":1}"#, nil),
  ])
  func `the position stands at the end of a line`(_ row: (line: String, position: Position?)) {
    let position = unsafe Array(row.line.utf8).withUnsafeBytes { unsafe LineTail.position($0) }
    #expect(position == row.position)
  }

  @Test func `a time reads as it was written`() {
    var random = SeededRandom(seed: 3)
    for unit: Int64 in [1, 1000, 1_000_000, 1_000_000_000] {
      for _ in 0..<200 {
        let time = Int64.random(
          in: -8_000_000_000_000_000_000...9_000_000_000_000_000_000, using: &random)
        let stamp = Timestamp(nanoseconds: time / unit * unit)
        #expect(read("\"\(stamp.text)\"") == stamp.nanoseconds)
      }
    }
    for text in [
      "", "null", "\"2024-13-01T12:00:00.123Z\"", "\"2024-02-30T12:00:00.123Z\"",
      "\"2024-01-01T24:00:00.123Z\"", "\"2024-01-01T12:00:00.1x3Z\"",
      "\"9999-01-01T12:00:00.123Z\"",
    ] {
      #expect(read(text) == nil)
    }
  }

  private func read(_ text: String) -> Int64? {
    unsafe Array(text.utf8).withUnsafeBytes { unsafe LineTime.nanoseconds($0) }
  }

  private func find(_ paths: [String], _ line: [UInt8]) throws -> [String?] {
    var wanted = LinePaths()
    let numbers = paths.map { wanted.add(WhereClause.keys(ofPath: $0)) }
    var scanner = LineScanner(wanted)
    let scanned = unsafe line.withUnsafeBytes { unsafe scanner.scan($0) }
    try #require(scanned)
    return numbers.map { number in
      let range = scanner.found[number]
      return range.isEmpty ? nil : String(decoding: line[range], as: UTF8.self)
    }
  }

  private func condition(_ events: inout RandomEvents) -> String {
    let fields = ["event", "userId", "timestamp", "plan", "properties", "context", "type"]
    var path = events.pick(fields)
    for _ in 0..<Int.random(in: 0...3, using: &events.random) {
      let keys = [
        "plan", "status", "a\\.b", "0", "1", "quo\"te", "back\\\\slash", "tab\t", "ü", "{",
      ]
      path += ".\(events.pick(keys))"
    }
    let value =
      events.random.next() % 4 == 0 ? events.pick(["u1", "E", "2024-05"]) : events.value(depth: 1)
    return path + events.pick(["=", "!=", "<", "<=", ">", ">=", "~"]) + value
  }
}
