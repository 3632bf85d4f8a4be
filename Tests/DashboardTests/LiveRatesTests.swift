internal import Dashboard
internal import Testing

/// Rates from counts.
@Suite struct LiveRatesTests {
  private let second: Int64 = 1_000_000_000

  @Test func `a rate is the increase over the last five seconds`() {
    var rates = LiveRates()
    for time in 0...10 { rates.take([UInt64(time * 10), 7], at: Int64(time) * second) }
    #expect(rates.rate(of: 0) == 10 && rates.rate(of: 1) == 0 && rates.total == 10)
    #expect(rates.events == 107 && rates.nameCount == 2 && rates.events(of: 1) == 7)
    // Nothing more comes: after five seconds the rate is nothing.
    for time in 11...15 { rates.take([100, 7], at: Int64(time) * second) }
    #expect(rates.rate(of: 0) == 0 && rates.total == 0)
  }

  @Test func `rates go by the clock, not by how often they are told`() {
    var rates = LiveRates()
    rates.take([0], at: 0)
    rates.take([30], at: 2 * second)
    #expect(rates.rate(of: 0) == 15 && rates.history == [15])
    rates.take([31], at: 2 * second)
    #expect(rates.history == [15])
  }

  @Test func `a name that is new has a rate from nothing`() {
    var rates = LiveRates()
    rates.take([], at: 0)
    rates.take([5], at: second)
    #expect(rates.rate(of: 0) == 5)
    rates.take([5, 4], at: 2 * second)
    #expect(rates.rate(of: 1) == 2)
  }

  @Test func `before two moments everything is nothing`() {
    var rates = LiveRates()
    #expect(rates.total == 0 && rates.top(5).isEmpty && rates.events == 0)
    rates.take([3], at: 0)
    #expect(rates.total == 0 && rates.rate(of: 0) == 0 && rates.top(5) == [0])
  }

  @Test func `the history is as long as it may be`() {
    var rates = LiveRates()
    for time in 0...500 { rates.take([UInt64(time)], at: Int64(time) * second) }
    #expect(rates.history.count == LiveRates.historySeconds && rates.history.allSatisfy { $0 == 1 })
  }

  @Test func `of ten thousand names the busiest are found`() {
    var rates = LiveRates()
    rates.take([UInt64](repeating: 0, count: 10_000), at: 0)
    let counts = (0..<10_000).map { UInt64(($0 * 7919) % 10_007) }
    rates.take(counts, at: second)
    let expected = counts.indices.sorted { counts[$0] > counts[$1] }.prefix(30)
    #expect(rates.top(30) == Array(expected))
    #expect(rates.top(3) { $0 < 100 }.allSatisfy { $0 < 100 })
  }

  @Test func `of names that are equally busy those with more events come first`() {
    var rates = LiveRates()
    rates.take([5, 9, 9], at: 0)
    rates.take([6, 10, 10], at: second)
    #expect(rates.top(3) == [1, 2, 0])
  }
}
