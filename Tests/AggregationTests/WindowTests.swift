import Database
import EventCodec
import Primitives
import Testing

@testable import Aggregation

@Suite struct WindowTests {
  private static let ticks = [
    "12:00:05.000", "12:01:00.000", "12:00:59.999", "12:01:30.000", "12:03:00.000", "12:00:30.000",
    "12:02:59.000", "11:00:00.000", "12:04:00.000", "12:00:00.000",
  ].map { Line.track("Tick", "u", "2024-05-01T\($0)Z") }

  private func run(_ lateness: String) throws -> JSONNode {
    let trial = try Trial(
      "{\"name\": \"ticks\", \"window\": \"minute\", \"lateness\": \"\(lateness)\"}")
    try trial.feed(Self.ticks)
    return try trial.answer()
  }

  @Test func `what comes late corrects its window`() throws {
    let answer = try run("1d")
    let minutes = ["11:00": 1.0, "12:00": 4, "12:01": 2, "12:02": 1, "12:03": 1, "12:04": 1]
    let expected = minutes.map { ("2024-05-01T\($0.key):00Z", $0.value) }
    #expect(answer.series("count") == Dictionary(uniqueKeysWithValues: expected))
    #expect(answer["late"].number == 0)
  }

  @Test(arguments: [("0s", 5.0), ("2m", 3)])
  func `what comes later still is counted as late`(lateness: String, late: Double) throws {
    let answer = try run(lateness)
    let counted = answer.series("count").values.reduce(0, +)
    #expect(counted + (answer["late"].number ?? 0) == 10)
    #expect(answer["late"].number == late)
  }

  @Test func `one event from the future closes nothing`() throws {
    let trial = try Trial(#"{"name": "ticks", "window": "minute", "lateness": "0s"}"#)
    let received = try #require(Timestamp(text: "2024-05-01T12:00:30Z")).nanoseconds
    try trial.feed([Line.track("Tick", "u", "2031-01-01T00:00:00Z")], received: received)
    try trial.feed([Line.track("Tick", "u", "2024-05-01T12:00:10Z")], received: received)
    let answer = try trial.answer()
    #expect(answer["late"].number == 0 && answer["total"]["count"].number == 2)
    #expect(answer["watermark"].text == "2024-05-01T12:00:30.000Z")
  }

  @Test(arguments: [
    ("2013-03-08T00:00:00Z", "2013-03-10", 1380.0), ("2013-11-01T00:00:00Z", "2013-11-03", 1500),
  ])
  func `a day at a clock change has the minutes its clocks showed`(
    start: String, day: String, minutes: Double
  ) throws {
    let trial = try Trial(
      #"{"name": "days", "window": "day", "zone": "America/New_York"},"#
        + #"{"name": "hours", "window": "hour", "zone": "America/New_York"}"#)
    var time = try #require(Timestamp(text: start)).nanoseconds
    for _ in 0..<5 * 1440 {
      try trial.feed([Line.track("Tick", "u", Timestamp(nanoseconds: time).text)])
      time += 60_000_000_000
    }
    let days = try trial.answer("days").series("count").filter { $0.key.hasPrefix(day) }
    #expect(Array(days.values) == [minutes])
    let hours = try trial.answer("hours").series("count").filter { $0.key.hasPrefix(day) }
    #expect(hours.count == Int(minutes) / 60 && hours.values.allSatisfy { $0 == 60 })
    #expect(hours.keys.contains { $0.hasPrefix("2013-03-10T02") } == false)
  }

  @Test func `windows are kept as long as the report says, in event time`() throws {
    let trial = try Trial(#"{"name": "hours", "window": "hour", "keep": "1d"}"#)
    for hour in 0..<60 {
      let text = Timestamp(nanoseconds: 1_714_521_600_000_000_000 + Int64(hour) * 3_600_000_000_000)
      try trial.feed([Line.track("Tick", "u", text.text)])
      try trial.commit()
    }
    let answer = try trial.answer()
    #expect(answer["windows"].list.count == 25)
    let rows = try trial.store.database.prepare("SELECT count(*) FROM window")
    #expect(try rows.step() && rows.integer(0) <= 26)
    #expect(answer["events"].number == 25 && answer["expired"].number == 35)
  }

  @Test(arguments: ["minute", "hour", "day", "week", "month", "all"])
  func `the first and the last moment there is are counted`(window: String) throws {
    let trial = try Trial(
      #"{"name": "a", "zone": "Pacific/Auckland", "window": "\#(window)"}, "#
        + #"{"name": "b", "sessions": {}, "window": "\#(window)"}, "#
        + #"{"name": "c", "funnel": ["*", "*"], "window": "\#(window)", "keep": "400d"}, "#
        + #"{"name": "d", "retention": {}, "window": "\#(window)"}"#)
    for time in [Int64.max, .min, 0, -1, .max - 1] {
      var writer = MessagePackWriter()
      writer.writeMapHeader(3)
      writer.write("type" as StaticString)
      writer.write("track" as StaticString)
      writer.write("userId" as StaticString)
      writer.write("u" as StaticString)
      writer.write("timestamp" as StaticString)
      writer.write(time == 0 ? 1 : time)
      try trial.feed(writer.bytes, topic: Array("Tick".utf8))
    }
    for name in ["a", "b", "c", "d"] {
      let answer = try trial.answer(name)
      let late = answer["late"].number ?? 0
      #expect((answer["events"].number ?? 0) + late == 5, "\(name)")
    }
  }

  @Test func `a period shows the windows that lie in it`() throws {
    let trial = try Trial(#"{"name": "ticks", "window": "minute"}"#)
    try trial.feed(Self.ticks)
    let from = try #require(Timestamp(text: "2024-05-01T12:01:30Z")).nanoseconds / 1_000_000_000
    let answer = try trial.answer(nil, ReportQuestion(from: .second(from), to: .second(from + 90)))
    #expect(answer["windows"].list.count == 2)
    #expect(answer["total"]["count"].number == 3)
  }

  @Test(arguments: [
    ("2024-03-31", "2024-04-01", "2024-03-31T00:00:00+01:00", 23.0),
    ("2024-10-27", "2024-10-28", "2024-10-27T00:00:00+02:00", 25.0),
    ("2024-03-31T02:30:00", "2024-03-31T05:00:00", "2024-03-31T03:00:00+02:00", 2.0),
  ])
  func `a date without a zone is the one of the report's zone`(
    from: String, to: String, start: String, hours: Double
  ) throws {
    let trial = try Trial(#"{"name": "ticks", "window": "hour", "zone": "Europe/Berlin"}"#)
    for day in ["2024-03-30", "2024-03-31", "2024-10-26", "2024-10-27"] {
      for minutes in stride(from: 30, to: 2880, by: 60) {
        let first = try #require(Timestamp(text: day)).nanoseconds
        let time = Timestamp(nanoseconds: first + Int64(minutes) * 60_000_000_000).text
        try trial.feed([Line.track("Tick", "u", time, id: time)])
      }
    }
    func local(_ text: String) throws -> ReportTime {
      .local(try #require(Timestamp(text: text)).nanoseconds / 1_000_000_000)
    }
    let answer = try trial.answer(nil, ReportQuestion(from: local(from), to: local(to)))
    #expect(answer["total"]["count"].number == hours)
    #expect(answer["windows"][0]["start"].text == start)
  }

  @Test func `a window in which nobody took a step is not shown, and its events count`() throws {
    let trial = try Trial(#"{"name": "buys", "window": "day", "funnel": ["Cart", "Paid"]}"#)
    try trial.feed([
      Line.track("Cart", "u", "2024-05-01T12:00:00Z"),
      Line.track("Other", "u", "2024-05-02T12:00:00Z"),
      Line.track("Cart", nil, "2024-05-03T12:00:00Z"),
    ])
    let answer = try trial.answer()
    #expect(answer["windows"].list.count == 1 && answer["events"].number == 3)
  }

  @Test func `events of windows that are gone are counted as expired, and are in no other number`()
    throws
  {
    let trial = try Trial(
      #"{"name": "ticks", "window": "day", "keep": "2d"}, "#
        + #"{"name": "users", "window": "day", "keep": "2d", "sessions": {}}"#)
    let days = ["01", "02", "02", "03", "05", "05", "01"].map { "2024-05-\($0)T12:00:00.000Z" }
    for (index, day) in days.enumerated() {
      try trial.feed([Line.track("Tick", "u\(index)", day)])
      // However often it is stored and read back in between.
      if index == 3 { try trial.commit(keepingBytes: 0) }
      if index == 4 { try trial.restart() }
    }
    try trial.feed([Line.track("Tick", "u4", days[4])])
    for name in ["ticks", "users"] {
      let answer = try trial.answer(name)
      let shown = answer["windows"].list.reduce(0.0) {
        $0 + ($1["total"]["count"].number ?? $1["total"]["events"].number ?? 0)
      }
      // The fifth was not stored before the restart; the last is older than what is kept.
      #expect(answer["events"].number == 3 && shown == 3, "\(name)")
      #expect(answer["expired"].number == 3 && answer["late"].number == 1, "\(name)")
    }
  }

  @Test(arguments: [
    "end = start", "state = zeroblob(9)",
    // A count of 2^48 events.
    "state = x'0180808080808040000000'",
  ])
  func `a window that cannot be is refused as damage`(_ change: String) throws {
    let trial = try Trial(#"{"name": "r", "measures": ["count"], "window": "day"}"#)
    try trial.feed(#"{"event": "A", "timestamp": "2024-05-01T12:00:00Z", "userId": "u"}"#)
    try trial.commit()
    let question = ReportQuestion(from: .second(.min), to: .second(.max))
    #expect(try trial.reportAnswer(nil, question).windows.count == 1)
    try trial.store.database.execute("UPDATE window SET \(change)")
    let reading = try ReportReading(trial.store.database.path)
    let error = #expect(throws: AggregatorError.self) {
      try reading.answer(trial.definitions[0], question)
    }
    #expect("\(error as Any)".contains(trial.store.database.path))
  }

  @Test func `a group whose text is none is answered in JSON`() {
    // {"\xF0": null}
    let values = GroupKey.values([0x81, 0xA1, 0xF0, 0xC0])
    #expect(values == [.json(Array("{\"\u{FFFD}\":null}".utf8))])
  }
}
