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
      other.producer(archive: Self.key, run: 0, epoch: 1)
        != Self.sample.producer(archive: Self.key, run: 0, epoch: 1))
  }

  @Test func `another archive, run or epoch is another producer`() {
    func producer(_ archive: [UInt8] = Self.key, run: UInt64 = 0, epoch: UInt32 = 1) -> [UInt8] {
      Self.sample.producer(archive: archive, run: run, epoch: epoch)
    }
    #expect(producer().count == 16)
    #expect(producer() != producer(run: 1))
    #expect(producer() != producer(epoch: 2))
    #expect(producer(run: 1, epoch: 11) != producer(run: 11, epoch: 1))
    #expect(producer() != producer(Self.key + [1]))
    #expect(producer() == producer())
  }

  @Test func `its name says nothing of a person`() {
    let name = Self.sample.name(archive: Self.key)
    #expect(name.utf8.count == 32)
    #expect(name.allSatisfy { $0.isHexDigit })
  }
}

struct ReplaySequenceTests {
  @Test(arguments: [0, 1, 1 << 43, .max - 1] as [UInt64])
  func `a number says the place of its event`(_ offset: UInt64) throws {
    let position = Position(epoch: 1_796_033_255, offset: offset)
    let number = try #require(ReplaySequence.number(of: position))
    #expect(number > 0)
    #expect(ReplaySequence.position(of: number, epoch: position.epoch) == position)
    #expect(
      ReplaySequence.place(behind: number, epoch: position.epoch)
        == Position(epoch: position.epoch, offset: offset + 1))
  }

  @Test func `what has no room has no number, and no number no event`() {
    #expect(ReplaySequence.number(of: Position(epoch: 1, offset: .max)) == nil)
    #expect(ReplaySequence.position(of: 0, epoch: 1) == nil)
    #expect(
      ReplaySequence.place(behind: 0, epoch: 1) == Position(epoch: 1, offset: 0))
  }
}
