import EventCodec
import Primitives
import Testing

@testable import Aggregation

@Suite struct FunnelTests {
  private static let reports =
    #"{"name": "checkout", "funnel": ["Cart Viewed", "Checkout Started"], "within": "1h", "#
    + #""window": "day"}"#

  private static let lines = [
    ("Cart Viewed", "ua", "10"), ("Checkout Started", "ua", "10"), ("Checkout Started", "ub", "10"),
    ("Cart Viewed", "ub", "11"), ("Cart Viewed", "uc", "10"), ("Checkout Started", "uc", "12"),
    ("Cart Viewed", "ud", "20"),
  ].map { Line.track($0.0, $0.1, "2024-05-01T12:00:\($0.2).000Z") }

  private func users(_ answer: JSONNode) -> [Double?] {
    answer["total"]["steps"].list.map { $0["users"].number }
  }

  @Test func `steps of one moment are in order, whichever came first`() throws {
    let trial = try Trial(Self.reports)
    try trial.feed(Self.lines)
    let answer = try trial.answer()
    #expect(users(answer) == [4, 2])
    #expect(answer["total"]["steps"][1]["rate"].number == 0.5)
  }

  @Test func `the order of arrival changes nothing`() throws {
    for round in 0..<50 {
      let trial = try Trial(Self.reports)
      for (index, line) in Self.lines.shuffled().enumerated() {
        try trial.feed([line])
        if index == round % 7 {
          try trial.commit(keepingBytes: 0)
          try trial.restart()
        }
      }
      #expect(users(try trial.answer()) == [4, 2])
    }
  }

  @Test func `a step too late does not count, and one event is one step`() throws {
    let trial = try Trial(
      #"{"name": "twice", "funnel": ["Tick", "Tick", "Tock"], "within": "10m", "window": "all"}"#)
    try trial.feed([
      Line.track("Tick", "a", "2024-05-01T12:00:00Z"),
      Line.track("Tock", "a", "2024-05-01T12:00:01Z"),
      Line.track("Tick", "b", "2024-05-01T12:00:00Z"),
      Line.track("Tick", "b", "2024-05-01T12:05:00Z"),
      Line.track("Tock", "b", "2024-05-01T12:10:00.001Z"),
      Line.track("Tock", "b", "2024-05-01T12:10:00Z"),
    ])
    #expect(users(try trial.answer()) == [2, 1, 1])
  }

  @Test func `a user counts once a window, in the window of the first step`() throws {
    let trial = try Trial(Self.reports)
    try trial.feed([
      Line.track("Checkout Started", "a", "2024-05-02T00:10:00Z"),
      Line.track("Cart Viewed", "a", "2024-05-01T23:50:00Z"),
      Line.track("Cart Viewed", "a", "2024-05-01T10:00:00Z"),
      Line.track("Cart Viewed", "a", "2024-05-02T10:00:00Z"),
    ])
    let windows = try trial.answer()["windows"]
    #expect(windows.list.map { $0["total"]["steps"][0]["users"].number } == [1, 1])
    #expect(windows.list.map { $0["total"]["steps"][1]["users"].number } == [1, 0])
  }

  @Test(arguments: [
    "a" + String(repeating: "b", count: 300) + "c", "abc" + String(repeating: "a", count: 300),
    String(repeating: "ab", count: 200) + "c",
    String(repeating: "b", count: 300) + "abc",
  ])
  func `a very active user keeps the steps that count`(_ steps: String) throws {
    let trial = try Trial(
      #"{"name": "long", "funnel": ["a", "b", "c"], "within": "1h", "window": "day"}"#)
    try trial.feed(
      steps.enumerated().map { place, name in
        let second = String(place % 60 + 100).dropFirst()
        let minute = String(place / 60 + 100).dropFirst()
        return Line.track(String(name), "u", "2024-05-01T12:\(minute):\(second)Z")
      })
    #expect(users(try trial.answer()) == [1, 1, 1])
  }

  @Test func `a delayed batch does not turn steps round`() throws {
    let trial = try Trial(
      #"{"name": "steps", "funnel": ["Step 1", "Step 2"], "within": "1m", "window": "all"}"#)
    // The second batch came at once, the first 40 s late.
    try trial.feed([Line.track("Step 2", "a", "2024-05-01T12:00:05Z")])
    try trial.feed([Line.track("Step 1", "a", "2024-05-01T12:00:00Z")])
    #expect(users(try trial.answer()) == [1, 1])
  }
}

@Suite struct RetentionTests {
  private static let reports =
    #"{"name": "back", "retention": {"first": "Signed Up", "back": "*", "periods": 3}, "#
    + #""window": "day"}"#

  private static let lines = [
    ("Signed Up", "a", "01"), ("Opened", "a", "02"), ("Opened", "a", "04"),
    ("Signed Up", "b", "01"), ("Opened", "b", "03"), ("Opened", "b", "03"),
    ("Opened", "c", "01"), ("Signed Up", "c", "02"), ("Opened", "c", "03"),
  ].map { Line.track($0.0, $0.1, "2024-05-\($0.2)T12:00:00Z") }

  @Test func `who is back is counted by the windows since the first event`() throws {
    for round in 0..<20 {
      let trial = try Trial(Self.reports)
      for (index, line) in Self.lines.shuffled().enumerated() {
        try trial.feed([line])
        if index == round % 9 {
          try trial.commit(keepingBytes: 0)
          try trial.restart()
        }
      }
      let windows = try trial.answer()["windows"].list.map { $0["total"] }
      #expect(windows[0]["back"].list.map(\.number) == [2, 1, 1, 1])
      #expect(windows[1]["back"].list.map(\.number) == [1, 1, 0, 0])
      #expect(windows[0]["users"].number == 2 && windows[0]["rates"][1].number == 0.5)
    }
  }

  @Test func `who cannot have been back yet lowers no rate`() throws {
    let trial = try Trial(Self.reports)
    // The last event is of the third day: its users' next day, and b's third, are still to come.
    try trial.feed(
      Self.lines.filter { !$0.contains("2024-05-04") } + [
        Line.track("Signed Up", "d", "2024-05-03T12:00:00Z")
      ])
    let answer = try trial.answer()
    let total = answer["total"]
    #expect(total["back"].list.map(\.number) == [4, 2, 1, 0])
    #expect(total["eligible"].list.map(\.number) == [4, 3, 2, 0])
    #expect(total["rates"].list.map(\.number) == [1, 2.0 / 3, 0.5, nil])
    let rates = answer["windows"].list.map { $0["total"]["rates"].list.map(\.number) }
    #expect(rates == [[1, 0.5, 0.5, nil], [1, 1, nil, nil], [1, nil, nil, nil]])
  }
}

@Suite struct SessionTests {
  @Test func `events no further apart than the gap are a session, in any order`() throws {
    let minutes = [0, 20, 50, 81, 200, 229, 258]
    for _ in 0..<20 {
      let trial = try Trial(#"{"name": "visits", "sessions": {"gap": "30m"}, "window": "day"}"#)
      for minute in minutes.shuffled() {
        let time = "2024-05-01T0\(minute / 60):\(minute % 60 < 10 ? "0" : "")\(minute % 60):00Z"
        try trial.feed([Line.track("Opened", "a", time), Line.track("Opened", "b", time)])
      }
      let total = try trial.answer()["total"]
      // 0 to 50, 81 alone, 200 to 258.
      #expect(total["sessions"].number == 6 && total["events"].number == 14)
      #expect(total["secondsPerSession"].number == Double((50 + 0 + 58) * 60) / 3)
      #expect(total["lengths"]["< 1s"].number == 2 && total["lengths"]["30m - 1h"].number == 4)
    }
  }
}
