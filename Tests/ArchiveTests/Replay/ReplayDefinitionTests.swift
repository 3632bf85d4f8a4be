import Archive
import BusProtocol
import Testing

struct ReplayDefinitionTests {
  private static let key = [UInt8](repeating: 7, count: 16)
  private static let sample = ReplayDefinition(
    subscribers: ["b", "a"], conditions: ["user=x", "event=A *"])

  @Test func `the order in which it is written does not matter`() {
    let other = ReplayDefinition(
      subscribers: ["a", "b", "a"], conditions: ["event=A *", "user=x"])
    #expect(other == Self.sample)
    #expect(other.name(archive: Self.key) == Self.sample.name(archive: Self.key))
  }

  @Test(arguments: [
    ReplayDefinition(subscribers: ["a"], conditions: ["user=x", "event=A *"]),
    ReplayDefinition(subscribers: ["a", "b"], conditions: ["user=x"]),
    ReplayDefinition(subscribers: ["a", "b"], conditions: ["event=A *", "user=xy"]),
    // The same words, parted elsewhere.
    ReplayDefinition(subscribers: ["a", "b", "event=A *"], conditions: ["user=x"]),
    ReplayDefinition(subscribers: ["ab"], conditions: ["user=x", "event=A *"]),
  ])
  func `another one has another name and producer`(_ other: ReplayDefinition) {
    #expect(other.name(archive: Self.key) != Self.sample.name(archive: Self.key))
    #expect(
      other.producer(archive: Self.key, run: 0) != Self.sample.producer(archive: Self.key, run: 0))
  }

  @Test func `another archive or run is another producer`() {
    let producer = Self.sample.producer(archive: Self.key, run: 0)
    #expect(producer.count == 16)
    #expect(producer != Self.sample.producer(archive: Self.key, run: 1))
    #expect(producer != Self.sample.producer(archive: Self.key + [1], run: 0))
    #expect(producer == Self.sample.producer(archive: Self.key, run: 0))
  }

  @Test func `its name says nothing of a person`() {
    let name = Self.sample.name(archive: Self.key)
    #expect(name.utf8.count == 32)
    #expect(name.allSatisfy { $0.isHexDigit })
  }
}

struct ReplaySequenceTests {
  @Test(arguments: [
    Position(epoch: 0, offset: 0), Position(epoch: 1, offset: 0),
    Position(epoch: 1, offset: 1 << 43), Position(epoch: 1_048_575, offset: (1 << 44) - 2),
  ])
  func `a number says the place behind its event`(_ position: Position) throws {
    let number = try #require(ReplaySequence.number(of: position))
    #expect(
      ReplaySequence.place(behind: number)
        == Position(epoch: position.epoch, offset: position.offset + 1))
  }

  @Test func `numbers rise as positions do`() throws {
    let positions = [(0, 0), (0, 1), (0, 500), (1, 0), (1, 499), (2, 3)].map {
      Position(epoch: $0.0, offset: $0.1)
    }
    let numbers = try positions.map { try #require(ReplaySequence.number(of: $0)) }
    #expect(numbers == numbers.sorted())
    #expect(Set(numbers).count == numbers.count)
    #expect(!numbers.contains(0))
    #expect(ReplaySequence.place(behind: 0) == nil)
  }

  @Test func `what has no room has no number`() {
    #expect(ReplaySequence.number(of: Position(epoch: 1, offset: (1 << 44) - 1)) == nil)
    #expect(ReplaySequence.number(of: Position(epoch: 1 << 20, offset: 0)) == nil)
  }
}
