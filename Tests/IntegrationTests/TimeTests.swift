import Primitives
import TestSupport
import Testing

extension IntegrationTests {
  /// Times as people and programs give them, on real inputs.
  @Suite struct TimeTests {
    /// What a stamp became: its time, or nil where the receive time stands for it, and the text as given.
    private struct Stamp: Equatable, CustomStringConvertible {
      var time: String?
      var original: String?
      var description: String { "\(time ?? "receive time") from \(original ?? "itself")" }
    }

    private static let noon = "2024-05-01T12:00:00.000Z"

    private func stamps(_ input: String) throws -> [Stamp]? {
      guard let path = Inputs.path(input) else { return nil }
      let broker = try TestBroker()
      let before = SystemClock.realtime()
      let run = try broker.publish([path])
      #expect(run.status == .exited(0), "\(run.errors)")
      return try broker.stored().map { event in
        let isFlagged = event["timestampFlag"]?.text == "unreadable"
        if isFlagged {
          let time = event["timestamp"]?.text.flatMap { Timestamp(text: $0)?.nanoseconds } ?? 0
          #expect(time >= before && time <= SystemClock.realtime(), "\(event)")
        }
        return Stamp(
          time: isFlagged ? nil : event["timestamp"]?.text,
          original: event["originalTimestamp"]?.text)
      }
    }

    @Test func `numbers count by their size, and what is no time is flagged`() throws {
      guard let stamps = try stamps("D02.ndjson") else { return }
      let expected: [(String?, String?)] = [
        (Self.noon, "1714564800"), (Self.noon, "1714564800000"),
        ("2024-05-01T12:00:00.123Z", "1714564800.123"), (Self.noon, "1714564800000000"),
        (Self.noon, "1714564800000000000"), (nil, "0"), (nil, "-1"), (Self.noon, "1714564800"),
        (Self.noon, "1714564800000"), (nil, "20240501"), (nil, "true"), (nil, "null"),
        (nil, "{}"), ("2001-09-09T01:46:40.000Z", "1000000000000.0"), (nil, "99999999999"),
        // Milliseconds of the year 10000 are read as microseconds of 1978: Deploy/Guide/Rules.md says so.
        ("1978-01-11T21:31:40.800Z", "253402300800000"),
      ]
      #expect(stamps == expected.map { Stamp(time: $0, original: $1) })
    }

    private static let forms =
      "a time as 2026-11-30T10:00:00Z, a date as 2026-11-30, or an age as 10m or 7d"

    @Test(arguments: [
      ("1960", "is a number without a unit"), ("2026", "is a number without a unit"),
      ("1960-01-01", "lies outside the years 1971 to 2262"),
      ("9999-01-01T00:00:00Z", "lies outside the years 1971 to 2262"),
      ("2026-02-30", "is no day of the calendar"), ("2026-13-01", "is no day of the calendar"),
      ("2026-11-30T25:00:00Z", "is no time"), ("2026-11-30T10:00 CET", "is no time"),
      ("today", "is no time"), ("7days", "is no time"), ("-5m", "is no time"), ("", "is no time"),
      ("99999999999999999999w", "is no time"),
    ])
    func `what is no time is told alike by all commands: the option, what is wrong, what to write`(
      text: String, fault: String
    ) throws {
      let commands = [
        (["archive", "query", "--dir", "/nowhere", "--from"], "--from"),
        (["archive", "query", "--dir", "/nowhere", "--to"], "--to"),
        (["archive", "replay", "--dir", "/nowhere", "--to", "x", "--until"], "--until"),
        (["report", "events-by-day", "--from"], "--from"),
        (["tail", "--since"], "--since"), (["plan", "infer", "--since"], "--since"),
        (["aggregator", "--start"], "--start"),
        (["archiver", "--dir", "/nowhere", "--start"], "--start"),
      ]
      for (words, option) in commands {
        let takesOffsets = ["--since", "--start"].contains(option)
        if takesOffsets, UInt64(text) != nil { continue }
        let run = try Program.run(words.dropLast() + ["\(option)=\(text)"])
        #expect(run.status == .exited(2), "\(words): \(run.errors)")
        let places = takesOffsets ? "earliest, latest, an offset, " : ""
        #expect(
          run.errors.contains("\(option): '\(text)' \(fault): write \(places)\(Self.forms)"),
          "\(words): \(run.errors)")
        #expect(run.errorLines.count == 1)
      }
    }

    @Test func `a time behind the newest event is the end`() throws {
      let broker = try TestBroker()
      #expect(try broker.publish(["--event", "Before"]).status == .exited(0))
      for time in ["0s", "2099-01-01"] {
        let run = try Program.run(
          ["tail", "--bus", broker.bus, "--name", "late", "--since", time, "--until-end"])
        #expect(run.status == .exited(0) && run.output.isEmpty, "\(run.errors)")
      }
      let seek = try Program.run(["consumers", "seek", "--bus", broker.bus, "late", "2099-01-01"])
      #expect(seek.status == .exited(0), "\(seek.errors)")
      #expect(try broker.stored().count == 1)
    }

    @Test func `texts are read as people write them, and what is no time is flagged`() throws {
      guard let stamps = try stamps("D03.ndjson") else { return }
      let texts = try #require(try Inputs.lines("D03.ndjson")).map {
        try JSONValue(text: $0)["timestamp"]?.text
      }
      let times: [String?] =
        [
          Self.noon, "2024-05-01T12:00:00.100Z", "2024-05-01T12:00:00.123Z",
          "2024-05-01T12:00:00.123456Z", "2024-05-01T12:00:00.123456789Z", Self.noon,
          "2024-05-01T12:00:00.500Z", Self.noon, Self.noon, Self.noon, Self.noon, Self.noon,
          "2024-05-01T12:00:00.250Z", Self.noon, Self.noon, "2024-05-01T00:00:00.000Z", Self.noon,
          "2024-05-02T00:00:00.000Z", "2017-01-01T00:00:00.000Z",
        ] + [String?](repeating: nil, count: 7)
      #expect(stamps.map(\.time) == times)
      // The text as given stays wherever ours is another.
      for (stamp, text) in zip(stamps, texts) {
        #expect(stamp.original == (stamp.time == text ? nil : text))
      }
    }
  }
}
