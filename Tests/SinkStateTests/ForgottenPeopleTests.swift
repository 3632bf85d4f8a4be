import BusProtocol
import Database
import EventModel
import Hashing
import SinkState
import TestSupport
import Testing

@Suite struct ForgottenPeopleTests {
  static let key = KeyedHash(key: [UInt8](repeating: 9, count: 16))
  static let place = Position(epoch: 1, offset: 100)

  static func forgetting(_ userId: String) throws -> ForgottenPeople {
    var people = ForgottenPeople(key: key)
    let payload = SampleEvent(name: "$forget", userId: .string(userId)).payload
    _ = try unsafe people.forget(payload.span.bytes, at: place, time: 1000)
    return people
  }

  static func leavesOut(
    _ people: ForgottenPeople, _ event: SampleEvent, at offset: UInt64, isAddressed: Bool
  ) throws -> Bool {
    let payload = event.payload
    return try unsafe people.leavesOut(
      event.fields, of: payload.span.bytes, at: Position(epoch: 1, offset: offset),
      isAddressed: isAddressed)
  }

  @Test func `a person who comes back is kept`() throws {
    let people = try Self.forgetting("anna")
    let event = SampleEvent(userId: "anna", timestamp: 1)
    #expect(try !Self.leavesOut(people, event, at: 101, isAddressed: false))
    #expect(try Self.leavesOut(people, event, at: 99, isAddressed: false))
  }

  @Test func `a replay of what was forgotten is left out`() throws {
    let people = try Self.forgetting("anna")
    func leavesOut(_ event: SampleEvent) throws -> Bool {
      try Self.leavesOut(people, event, at: 200, isAddressed: true)
    }
    #expect(try leavesOut(SampleEvent(userId: "anna", timestamp: 1000)))
    #expect(try leavesOut(SampleEvent(anonymousId: "anna", timestamp: 1)))
    #expect(try leavesOut(SampleEvent(userId: "new", previousId: "anna", timestamp: 1)))
    #expect(try !leavesOut(SampleEvent(userId: "anna", timestamp: 1001)))
    #expect(try !leavesOut(SampleEvent(userId: "bert", timestamp: 1)))
    #expect(try !leavesOut(SampleEvent(timestamp: 1)))
  }

  @Test func `one event can name two ids`() throws {
    var people = ForgottenPeople(key: Self.key)
    let payload = SampleEvent(name: "$forget", userId: "anna", anonymousId: "device").payload
    let persons = try unsafe people.forget(payload.span.bytes, at: Self.place, time: 0)
    #expect(
      persons == [
        PersonHash.hash("anna", by: Self.key), PersonHash.hash("device", by: Self.key),
      ])
    #expect(people.count == 2)
  }

  @Test func `a request that names nobody forgets nobody`() throws {
    var people = ForgottenPeople(key: Self.key)
    let payload = SampleEvent(name: "$forget").payload
    #expect(try unsafe people.forget(payload.span.bytes, at: Self.place, time: 0).isEmpty)
    #expect(people.isEmpty)
  }

  @Test func `the list comes back from the file, and a later request wins`() throws {
    let folder = try TemporaryFolder()
    let database = try Database(folder.file("f"), migrations: [ForgottenTables.migration])
    var people = try Self.forgetting("anna")
    try ForgottenTables.store(people, in: database)
    people.markSaved()
    let person = try #require(PersonHash.hash("anna", by: Self.key))
    let later = ForgottenPeople.Entry(
      person: person, place: Position(epoch: 2, offset: 7), time: 2000)
    people.forget(later)
    try ForgottenTables.store(people, in: database)
    let loaded = try ForgottenTables.load(database, key: Self.key)
    #expect(loaded.count == 1)
    #expect(loaded[person] == later)
  }

  @Test func `at the limit the oldest entry goes and is counted`() {
    var people = ForgottenPeople(key: Self.key, limit: 2)
    for number in 1...3 as ClosedRange<UInt64> {
      people.forget(
        .init(person: Hash128(high: number, low: 0), place: Self.place, time: Int64(number)))
    }
    #expect(people.count == 2)
    #expect(people.dropped == 1)
    #expect(people[Hash128(high: 1, low: 0)] == nil)
  }
}
