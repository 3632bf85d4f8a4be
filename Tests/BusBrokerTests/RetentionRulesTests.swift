import Testing

@testable import BusBroker
@testable import EventJournal

@Suite struct RetentionRulesTests {
  /// Segments of 100 bytes and ten events each; the last event of number i is of time 10 * (i + 1).
  static func segments(_ count: Int) -> [JournalSegment] {
    (0..<count).map { number in
      let header = SegmentHeader(
        segment: UInt64(number), offset: UInt64(number * 10), time: Int64(number * 10),
        epochs: [], durability: .fsync)
      return JournalSegment(
        header, byteCount: 100, end: UInt64(number * 10 + 10), lastTime: Int64(number * 10 + 10))
    }
  }

  struct Case: Sendable, CustomTestStringConvertible {
    var testDescription: String
    var age: Int64 = 1000
    var bytes = 10_000
    var keepUnread = 10_000
    var dropUnread = false
    var needed: UInt64?
    var now: Int64 = 50
    var clock: Int64 = 0
    var lastForget: Int64?
    var deleteBelow: UInt64?
    var refuses = false
  }

  static let cases = [
    Case(testDescription: "nothing is old or too much"),
    Case(testDescription: "old segments go when nobody needs them", age: 29, deleteBelow: 20),
    Case(testDescription: "an event just at the age stays", age: 30, deleteBelow: 10),
    Case(testDescription: "too many bytes go from the oldest on", bytes: 300, deleteBelow: 20),
    Case(testDescription: "the newest segment is never deleted", bytes: 0, deleteBelow: 40),
    Case(testDescription: "unread segments stay", bytes: 0, needed: 25, deleteBelow: 20),
    Case(
      testDescription: "a segment read to its end is read", bytes: 0, needed: 30, deleteBelow: 30),
    Case(testDescription: "all unread stays", age: 0, bytes: 0, needed: 0),
    Case(testDescription: "unread at the limit is kept", keepUnread: 300, needed: 20),
    Case(
      testDescription: "unread over the limit refuses new events", keepUnread: 299, needed: 20,
      refuses: true),
    Case(
      testDescription: "unread over the limit is dropped if so told", keepUnread: 299,
      dropUnread: true, needed: 20, deleteBelow: 30),
    Case(
      testDescription: "what was read goes before the unread is dropped", keepUnread: 150,
      dropUnread: true, needed: 10, deleteBelow: 40),
    Case(
      testDescription: "what may hold a forgotten person goes at its age, unread too", age: 29,
      needed: 0, lastForget: 15, deleteBelow: 20),
    Case(
      testDescription: "but not before", age: 39, needed: 0, lastForget: 15, deleteBelow: 10),
    Case(
      testDescription: "a segment that begins at the request holds only what came later", age: 9,
      needed: 0, lastForget: 20, deleteBelow: 20),
    Case(
      testDescription: "on an idle bus the clock counts for what may hold a forgotten person",
      age: 1000, clock: 1025, lastForget: 35, deleteBelow: 20),
    Case(
      testDescription: "the clock does not count for what somebody has not read", age: 1000,
      needed: 0, clock: 10_000, lastForget: 35),
    Case(testDescription: "nor for what holds nobody forgotten", age: 1000, clock: 10_000),
    Case(
      testDescription: "only the newest is unread: nothing can be dropped", keepUnread: 50,
      dropUnread: true, needed: 40),
  ]

  @Test(arguments: cases)
  func `five segments are judged`(_ given: Case) {
    var rules = RetentionRules(
      age: given.age, bytes: given.bytes, keepUnreadBytes: given.keepUnread,
      dropUnread: given.dropUnread)
    rules.lastForget = given.lastForget
    let verdict = rules.judge(
      Self.segments(5), oldestNeeded: given.needed, now: given.now, clock: given.clock)
    #expect(verdict.deleteBelow == given.deleteBelow)
    #expect((verdict.refusal != nil) == given.refuses)
  }

  @Test func `no segments need no verdict`() {
    let rules = RetentionRules(age: 0, bytes: 0, keepUnreadBytes: 0, dropUnread: true)
    #expect(rules.judge([], oldestNeeded: 5, now: 0) == .init())
  }
}
