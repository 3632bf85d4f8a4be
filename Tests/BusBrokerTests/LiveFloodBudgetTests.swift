import Testing

@testable import BusBroker

@Suite struct LiveFloodBudgetTests {
  private typealias Verdict = LiveFloodBudget.Verdict
  private static let most = LiveFloodBudget.maximumBytes
  private static let second: Int64 = 1_000_000_000

  /// Looked at once, when these connections had sent nothing.
  private static func open(_ descriptors: [Int32]) -> LiveFloodBudget {
    var budget = LiveFloodBudget()
    _ = budget.look(Dictionary(uniqueKeysWithValues: descriptors.map { ($0, 0) }), at: 0)
    return budget
  }

  @Test func `what was sent before the thread fell behind does not count`() {
    var budget = LiveFloodBudget()
    #expect(budget.look([4: Self.most * 9], at: 0) == Verdict())
    #expect(budget.look([4: Self.most * 10], at: 1) == Verdict())
  }

  @Test func `the one that sends most ends, and the others stay`() {
    var budget = Self.open([4, 5, 6])
    let verdict = budget.look([4: 100, 5: Self.most * 2, 6: 3000], at: 1)
    #expect(verdict == Verdict(ended: [5], takesConnections: false))
  }

  @Test func `many that share a flood end together`() {
    var budget = Self.open(Array(1...8))
    let share = Dictionary(uniqueKeysWithValues: (1...8).map { (Int32($0), Self.most / 4) })
    #expect(budget.look(share, at: 1).ended.count == 4)
  }

  @Test func `what connections sent that are gone counts on`() {
    var budget = Self.open([])
    for round in 1...4 as ClosedRange<Int64> {
      #expect(budget.look([4: Self.most / 4], at: round * 2) == Verdict())
      #expect(budget.look([:], at: round * 2 + 1) == Verdict())
    }
    let verdict = budget.look([4: 100], at: 99)
    #expect(verdict == Verdict(ended: [4], takesConnections: false))
  }

  @Test func `a descriptor that another connection has got counts from the beginning`() {
    var budget = Self.open([])
    _ = budget.look([4: Self.most - 1000], at: 1)
    #expect(budget.look([4: 2000], at: 2).ended == [4])
  }

  @Test func `after a flood a trickle passes each second, the smallest first`() {
    var budget = Self.open([4, 5, 6])
    _ = budget.look([4: 0, 5: 0, 6: Self.most * 2], at: 1)
    let small = LiveFloodBudget.trickleBytes / 4
    let verdict = budget.look([4: small, 5: small * 4], at: Self.second)
    #expect(verdict == Verdict(ended: [5], takesConnections: false))
  }

  @Test func `the trickle of a long time is no more than that of a second`() {
    var budget = Self.open([4])
    _ = budget.look([4: Self.most * 2], at: 1)
    let verdict = budget.look([5: LiveFloodBudget.trickleBytes + 1], at: 3600 * Self.second)
    #expect(verdict.ended == [5])
  }

  @Test func `no connection is taken while many that are gone wait for the thread`() {
    var budget = Self.open([])
    for number in 0..<LiveFloodBudget.maximumEnded {
      #expect(budget.look([Int32(number): 1], at: Int64(number)) == Verdict())
    }
    #expect(budget.look([:], at: 999) == Verdict(takesConnections: false))
  }

  @Test func `all begins again when the thread has caught up`() {
    var budget = Self.open([4])
    _ = budget.look([4: Self.most * 2], at: 1)
    budget.settle()
    #expect(!budget.isOpen)
    #expect(budget.look([4: Self.most * 2], at: 2) == Verdict())
    #expect(budget.look([4: Self.most * 3], at: 3) == Verdict())
  }
}
