import Primitives
import Testing

@testable import BusBroker

@Suite struct BrokerWatchTests {
  private static let second: Int64 = 1_000_000_000

  @Test func `what was refused is told once a minute, with what came since`() {
    var watch = BrokerWatch()
    func look(_ refused: UInt64, at seconds: Int64) -> [String] {
      watch.look(refused: refused, files: { nil }, at: seconds * Self.second).map(\.text)
    }
    #expect(look(0, at: 1).isEmpty)
    #expect(look(3, at: 2).map { $0.hasSuffix(": 3 times") } == [true])
    #expect(look(9, at: 30).isEmpty)
    #expect(look(10, at: 62).map { $0.hasSuffix(": 7 times") } == [true])
    #expect(look(10, at: 200).isEmpty)
  }

  @Test func `files are told of before they are used up, and counted rarely`() {
    var watch = BrokerWatch()
    var counted = 0
    func look(_ open: Int, at seconds: Int64) -> [String] {
      watch.look(
        refused: 0,
        files: {
          counted += 1
          return (open, 100)
        }, at: seconds * Self.second
      ).map(\.key)
    }
    #expect(look(79, at: 1).isEmpty)
    #expect(look(80, at: 2).isEmpty)
    #expect(look(80, at: 6) == ["open_files"])
    #expect(look(99, at: 20).isEmpty)
    #expect(counted == 3)
    #expect(look(99, at: 70) == ["open_files"])
  }
}
