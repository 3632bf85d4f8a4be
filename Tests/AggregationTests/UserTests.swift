import Database
import Primitives
import Testing

@testable import Aggregation

@Suite struct UserTests {
  private static func opened(_ ids: String, _ second: Int) -> String {
    "{\"type\":\"track\",\"event\":\"Opened\",\(ids),"
      + "\"timestamp\":\"2024-05-01T12:00:0\(second).000Z\"}"
  }

  /// One device, its user, a second device, an alias, and another user on the first device.
  private static let people = [
    opened(#""anonymousId":"anon-1""#, 0), opened(#""anonymousId":"anon-1""#, 1),
    #"{"type":"identify","userId":"dana","anonymousId":"anon-1","timestamp":1714564802}"#,
    opened(#""userId":"dana","anonymousId":"anon-1""#, 3),
    opened(#""userId":"dana","anonymousId":"anon-2""#, 4),
    opened(#""anonymousId":"anon-3""#, 5),
    #"{"type":"alias","previousId":"anon-3","userId":"dana","timestamp":1714564806}"#,
    opened(#""userId":"eve","anonymousId":"anon-1""#, 7),
  ]

  private static let reports =
    #"{"name": "users", "events": ["Opened"], "window": "day", "#
    + #""measures": [{"unique": "user"}, "people"]}"#

  @Test func `a user is the userId, else the anonymousId; people joins them`() throws {
    let trial = try Trial(Self.reports)
    try trial.feed(Self.people)
    let total = try trial.answer()["total"]
    #expect(total["unique user"]["value"].number == 4)
    #expect(total["people"]["value"].number == 2 && total["people"]["exact"].isTrue)
  }

  @Test func `joins are the same after a restart at any event`() throws {
    for cut in 1..<Self.people.count {
      let trial = try Trial(Self.reports)
      try trial.feed(Self.people[..<cut])
      try trial.commit()
      // Not committed: lost with the process, and given again by the bus.
      try trial.feed(Self.people[cut...])
      try trial.restart()
      #expect(trial.offset == UInt64(cut))
      try trial.feed(Self.people[cut...])
      let total = try trial.answer()["total"]
      #expect(total["unique user"]["value"].number == 4)
      #expect(total["people"]["value"].number == 2)
    }
  }

  @Test func `a device that two users share does not make them one`() throws {
    var people = PeopleJoin()
    people.join(1, to: 10)
    people.join(1, to: 20)
    #expect(people.person(of: 1) == 10 && people.person(of: 20) == 20)
    // An alias of one user's id to another's does.
    people.join(10, to: 20)
    #expect(people.person(of: 1) == 20)
    // Never a ring.
    people.join(20, to: 1)
    #expect(people.person(of: 20) == 20)
  }

  @Test func `events that name nobody are counted, but are no user`() throws {
    let trial = try Trial(Self.reports)
    try trial.feed([Self.opened(#""userId":null,"anonymousId":"""#, 1)])
    try trial.feed([Self.opened(#""userId":42"#, 2), Self.opened(#""userId":"42""#, 3)])
    let answer = try trial.answer()
    #expect(answer["events"].number == 3 && answer["withoutUser"].number == 1)
    #expect(answer["total"]["unique user"]["value"].number == 1)
  }

  @Test(arguments: [false, true])
  func `a forgotten person leaves exact sets, in memory and stored, also of reports that fill`(
    isFilling: Bool
  ) throws {
    let trial = try Trial(
      Self.reports + #", {"name": "visits", "sessions": {"gap": "30m"}, "window": "day"}"#)
    for day in 1...3 {
      for user in ["anna", "bert", "cora"] {
        try trial.feed([Line.track("Opened", user, "2024-05-0\(day)T12:00:00Z")])
      }
      // The last day stays in memory only.
      if day < 3 { try trial.commit(keepingBytes: 0, isFilling: isFilling) }
    }
    var payload: [UInt8] = []
    payload = [0x82, 0xA4] + Array("type".utf8) + [0xA5] + Array("track".utf8)
    payload += [0xA6] + Array("userId".utf8) + [0xA4] + Array("bert".utf8)
    try trial.feed(payload, topic: Array("$forget".utf8))
    try trial.commit(isFilling: isFilling)
    let series = try trial.answer().series("unique user")
    #expect(series.values.sorted() == [2, 2, 2])
    let rows = try trial.store.database.prepare("SELECT count(*) FROM track")
    #expect(try rows.step() && rows.integer(0) == 2)
    // Who comes back is a new person.
    try trial.feed([Line.track("Opened", "bert", "2024-05-03T13:00:00Z")])
    #expect(try trial.answer().series("unique user")["2024-05-03T00:00:00Z"] == 3)
  }

  @Test(arguments: ["VALUES (7, 7)", "VALUES (7, 8), (8, 9), (9, 7)"])
  func `joins in a ring are refused as damage`(_ rows: String) throws {
    let trial = try Trial(Self.reports)
    try trial.commit()
    try trial.store.database.execute("INSERT INTO joined \(rows)")
    #expect(throws: AggregatorError.self) { try trial.restart() }
    let reading = try ReportReading(trial.store.database.path)
    #expect(throws: AggregatorError.self) {
      try reading.answer(trial.definitions[0], ReportQuestion())
    }
  }
}
