import BusClient
import EventModel
import Primitives
import Testing

@testable import Collector

/// When the times of a batch are corrected, and how.
struct SenderClockTests {
  private static let day: Int64 = 86_400_000_000_000

  @Test(
    arguments: [
      (-61_000_000_000, -61_000_000_000), (-60_000_000_000, 0), (0, 0), (40_000_000_000, 0),
      (day, 0), (day + 1, day + 1),
    ] as [(Int64, Int64)])
  func `only a clock that is far off is corrected`(_ row: (behind: Int64, offset: Int64)) {
    let sentAt = Timestamp(nanoseconds: arrival - row.behind)
    #expect(SenderClock.offset(sentAt: sentAt, receivedAt: arrival) == row.offset)
  }

  @Test func `a clock in the future is corrected and distances stay`() throws {
    var core = try makeCore()
    let verdicts = try core.verdicts(
      "/v1/batch",
      """
      {"sentAt":"2031-01-01T00:00:10.000Z","batch":[
      {"event":"A","userId":"u","timestamp":"2031-01-01T00:00:00.000Z"},
      {"event":"B","userId":"u","timestamp":"2031-01-01T00:00:05.000Z"},
      {"event":"C","userId":"u","timestamp":"2031-01-01T00:00:05+00:00","originalTimestamp":"mine"},
      {"event":"D","userId":"u"}]}
      """)
    let events = try verdicts.envelopes()
    #expect(
      events.map { $0.timestamp?.text } == [
        "2026-11-30T09:59:50.000Z", "2026-11-30T09:59:55.000Z", "2026-11-30T09:59:55.000Z",
        "2026-11-30T10:00:00.000Z",
      ])
    #expect(
      events.map(\.originalTimestamp) == [
        "2031-01-01T00:00:00.000Z", "2031-01-01T00:00:05.000Z", "mine", nil,
      ])
    #expect(events.allSatisfy { $0[.sentAt] == nil })
  }

  @Test func `a plain list is corrected by the sentAt of its first event`() throws {
    var core = try makeCore()
    let verdicts = try core.verdicts(
      "/v1/events",
      """
      [{"event":"A","timestamp":"2031-01-01T00:00:00.000Z","sentAt":"2031-01-01T00:00:10.000Z"},
      {"event":"B","timestamp":"2031-01-01T00:00:05.000Z","sentAt":"2031-01-01T00:00:10.000Z"}]
      """)
    #expect(
      try verdicts.envelopes().map { $0.timestamp?.text } == [
        "2026-11-30T09:59:50.000Z", "2026-11-30T09:59:55.000Z",
      ])
  }

  @Test func `a slow network keeps the order of events between batches`() throws {
    var core = try makeCore()
    // The first batch was 40 s on its way, the second was not.
    let first = try core.verdicts(
      "/v1/batch",
      """
      {"sentAt":"2026-11-30T09:59:20.000Z","batch":[
      {"event":"Step 1","userId":"u","timestamp":"2026-11-30T09:59:19.000Z"}]}
      """)
    let second = try core.verdicts(
      "/v1/batch",
      """
      {"sentAt":"2026-11-30T09:59:25.000Z","batch":[
      {"event":"Step 2","userId":"u","timestamp":"2026-11-30T09:59:24.000Z"}]}
      """)
    let times = try (first.envelopes() + second.envelopes()).map { $0.timestamp?.text }
    #expect(times == ["2026-11-30T09:59:19.000Z", "2026-11-30T09:59:24.000Z"])
  }

  @Test(arguments: ["\"not a date\"", "null", "{}", "[1]", "true", "1e400", "\"\\ud800\"", "x"])
  func `a time of sending that cannot be read harms nothing`(_ sentAt: String) throws {
    var core = try makeCore()
    let verdicts = try core.verdicts(
      "/v1/batch",
      """
      {"sentAt":\(sentAt),"batch":[{"event":"A","userId":"u"},
      {"event":"B","userId":"u","timestamp":"2024-05-01T12:00:01.000Z"}]}
      """)
    #expect(
      try verdicts.envelopes().map { $0.timestamp?.text } == [
        "2026-11-30T10:00:00.000Z", "2024-05-01T12:00:01.000Z",
      ])
  }

  @Test func `a time that the correction takes out of all years is flagged`() throws {
    var core = try makeCore()
    let verdicts = try core.verdicts(
      "/v1/batch",
      """
      {"sentAt":"1980-01-01T00:00:00Z","batch":[
      {"event":"A","userId":"u","timestamp":"2261-01-01T00:00:00.000Z"}]}
      """)
    let event = try #require(verdicts.envelopes().first)
    #expect(event.timestamp?.nanoseconds == arrival)
    #expect(event[.timestampFlag] == "unreadable")
    #expect(event.originalTimestamp == "2261-01-01T00:00:00.000Z")
  }
}
