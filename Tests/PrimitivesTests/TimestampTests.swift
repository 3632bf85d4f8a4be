import Primitives
import Testing

/// 2024-05-01T12:00:00Z.
private let noon: Int64 = 1_714_564_800_000_000_000

@Suite struct TimestampTests {
  static let texts: [(String, Int64)] = [
    ("2024-05-01T12:00:00Z", 0), ("2024-05-01T12:00:00.1Z", 100_000_000),
    ("2024-05-01T12:00:00.123Z", 123_000_000), ("2024-05-01T12:00:00.123456Z", 123_456_000),
    ("2024-05-01T12:00:00.123456789Z", 123_456_789), ("2024-05-01T14:00:00+02:00", 0),
    ("2024-05-01T14:00:00.5+0200", 500_000_000), ("2024-05-01T14:00:00+02", 0),
    ("2024-05-01T07:30:00-04:30", 0), ("2024-05-01 12:00:00Z", 0), ("2024-05-01T12:00Z", 0),
    ("2024-05-01t12:00:00z", 0), ("2024-05-01T12:00:00,250Z", 250_000_000),
    ("20240501T120000Z", 0), ("2024-05-01T12:00:00", 0),
    ("2024-05-01", -43_200_000_000_000), ("2024-122T12:00:00Z", 0),
    ("2024-05-01T24:00:00Z", 43_200_000_000_000), ("20240501", -43_200_000_000_000),
    ("1714564800", 0), ("1714564800000", 0), ("1714564800.5", 500_000_000),
  ]

  static let numbers: [(Int64, Int64?)] = [
    (1_714_564_800, noon), (1_714_564_800_000, noon), (1_714_564_800_000_000, noon),
    (noon, noon), (99_999_999_999, nil), (20_240_501, nil), (0, nil), (-1, nil),
    (253_402_300_800_000, 253_402_300_800_000_000), (.max, nil), (.min, nil),
  ]

  @Test(arguments: Self.texts)
  func `a time is read as people write it`(text: String, afterNoon: Int64) {
    #expect(Timestamp(text: text)?.nanoseconds == noon + afterNoon)
  }

  @Test func `a leap second is the first of the next minute`() {
    #expect(Timestamp(text: "2016-12-31T23:59:60Z") == Timestamp(text: "2017-01-01T00:00:00Z"))
  }

  @Test(arguments: [
    "2024-02-30T00:00:00Z", "2023-02-29", "2024-13-01T00:00:00Z", "2024-00-10", "yesterday", "",
    "2024-05-01T12:00:00+25:00", "٢٠٢٤-٠٥-٠١T12:00:00Z", "+012024-05-01T12:00:00Z",
    "2024-05-01T12:00:00.Z", "2024-05-01T25:00:00Z", "2024-05-01T12:60:00Z", "2024-05-01T12",
    "2024-05-01T24:00:01Z", "1970-06-01", "2263-01-01", "9999-12-31T23:59:59Z", "0", "-1",
    "2024-366x", "2023-366", " 2024-05-01", "2024-05-01Z", "99999999999999999999",
  ])
  func `what is no time, or an implausible one, is nil`(text: String) {
    #expect(Timestamp(text: text) == nil)
  }

  @Test(arguments: Self.numbers)
  func `a number means seconds to nanoseconds by its size`(number: Int64, nanoseconds: Int64?) {
    #expect(Timestamp(number: number)?.nanoseconds == nanoseconds)
  }

  @Test func `a fraction of seconds counts and what is not finite is nil`() {
    #expect(Timestamp(number: 1_714_564_800.123)?.nanoseconds == noon + 123_000_000)
    #expect(Timestamp(number: Double.nan) == nil)
    #expect(Timestamp(number: Double.infinity) == nil)
    #expect(Timestamp(number: 1e300) == nil)
  }

  @Test func `the text has as many decimals as lose nothing and reads back the same`() {
    #expect(Timestamp(nanoseconds: noon).text == "2024-05-01T12:00:00.000Z")
    #expect(Timestamp(nanoseconds: noon + 1000).text == "2024-05-01T12:00:00.000001Z")
    #expect(Timestamp(nanoseconds: noon + 1).text == "2024-05-01T12:00:00.000000001Z")
    #expect(Timestamp(nanoseconds: -1).text == "1969-12-31T23:59:59.999999999Z")
    var random = SeededRandom(seed: 5)
    for _ in 0..<2000 {
      let bounds = Timestamp.earliestPlausible.nanoseconds...Timestamp.latestPlausible.nanoseconds
      let time = Timestamp(nanoseconds: .random(in: bounds, using: &random))
      #expect(Timestamp(text: time.text) == time)
    }
  }

  @Test func `days and dates are each other's inverse over four centuries`() {
    // A whole era and its neighbours' ends; one expectation, since a failed day says which it was.
    let wrong = (-150_000..<150_000).first { day in
      let date = CivilDate(daysSince1970: day)
      return !date.isValid || date.daysSince1970 != day
    }
    #expect(wrong == nil)
  }
}

@Suite struct UUIDv7Tests {
  @Test
  func `identifiers sort in the order in which they were made, even when the clock goes back`() {
    var ids = UUIDv7Generator(seed: 1)
    var last = ""
    for index in 0..<10_000 {
      let back = index % 100 == 50 ? Int64(5_000_000_000) : 0
      let text = ids.next(at: Timestamp(nanoseconds: noon + Int64(index) * 1000 - back)).description
      #expect(text > last)
      last = text
    }
  }

  @Test func `the text has the form, the version and the time`() {
    var ids = UUIDv7Generator(seed: 1)
    let text = ids.next(at: Timestamp(nanoseconds: noon)).description
    #expect(text.utf8.count == 36)
    let digits = text.split(separator: "-").map(\.count)
    #expect(digits == [8, 4, 4, 4, 12])
    #expect(text.hasPrefix(hexadecimal(noon / 1_000_000).prefix(8)))
    #expect(Array(text)[14] == "7" && "89ab".contains(Array(text)[19]))
  }

  private func hexadecimal(_ value: Int64) -> String {
    let text = String(value, radix: 16)
    return String(repeating: "0", count: 12 - text.count) + text
  }
}
