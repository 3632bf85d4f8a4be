import EventModel
import Primitives
import Testing

@testable import Aggregation

@Suite struct NumberSummaryTests {
  private func summary(_ numbers: [NumberSummary.Number]) -> NumberSummary {
    numbers.reduce(into: NumberSummary()) { $0.insert($1) }
  }

  @Test func `whole numbers add up exactly beyond 64 bits`() {
    let most = Int128(UInt64.max)
    let found = summary([.whole(most), .whole(most), .whole(-1)])
    #expect(found.sum == .whole(2 * most - 1))
    #expect(found.greatest == .whole(most) && found.least == .whole(-1))
  }

  @Test func `doubles lose nothing to each other`() {
    let found = summary([.double(1e100), .double(1), .whole(1), .double(-1e100)])
    #expect(found.sum == .double(2))
    #expect(found.mean == 0.5)
  }

  @Test func `a sum that passes what a double holds on its way is right all the same`() throws {
    let found = summary([.double(1e308), .double(1e308), .double(3), .double(-1e308)])
    #expect(found.sum == .double(1e308))
    #expect(summary([.double(1e308), .double(0.5), .double(-1e308)]).sum == .double(0.5))
    var more = summary([.double(-1e308)])
    more.merge(found)
    #expect(more.sum == .double(3))
    var writer = StateWriter()
    found.encode(to: &writer)
    var reader = StateReader(writer.bytes)
    #expect(try NumberSummary(from: &reader) == found)
    // What no double holds is none.
    let beyond = summary([.double(1e308), .double(1e308)])
    #expect(AnswerValue(beyond.sum) == .null)
    #expect(AnswerValue(beyond.sum).plain == "-")
  }

  @Test func `merging is adding`() throws {
    var a = summary([.whole(10), .double(10), .whole(20)])
    var b = summary([.whole(-5)])
    b.leaveOut()
    a.merge(b)
    #expect(a.count == 4 && a.leftOut == 1)
    #expect(a.sum == .double(35) && a.mean == 8.75)
    #expect(a.least == .whole(-5) && a.greatest == .whole(20))
    var writer = StateWriter()
    a.encode(to: &writer)
    var reader = StateReader(writer.bytes)
    #expect(try NumberSummary(from: &reader) == a)
  }
}

@Suite struct TopValuesTests {
  private func key(_ number: Int) -> [UInt8] { Array("value \(number)".utf8) }

  private func insert(_ number: Int, into top: inout TopValues, limit: Int) {
    unsafe top.insert(key(number).span.bytes, limit: limit)
  }

  @Test func `too many values leave the total exact and the frequent one found`() {
    var top = TopValues()
    for number in 0..<50_000 { insert(number, into: &top, limit: 100) }
    for _ in 0..<1000 { insert(-1, into: &top, limit: 100) }
    #expect(top.total == 51_000)
    #expect(top.entries.count <= 200 && top.byteCount < 30_000)
    let first = top.sorted()[0]
    #expect(first.key == key(-1) && first.entry.count == 1000)
    #expect(first.entry.mayMiss <= 50_000 / 100)
    #expect(top.folded > 49_000)
  }

  @Test func `a count is never too high, and too low by no more than it says`() {
    var top = TopValues()
    var truth: [Int: UInt64] = [:]
    var seed: UInt64 = 7
    for _ in 0..<20_000 {
      seed = seed &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      // Small numbers are frequent.
      let number = Int(seed >> 33) % (1 + Int(seed >> 50) % 600)
      insert(number, into: &top, limit: 50)
      truth[number, default: 0] += 1
    }
    #expect(top.folded > 0)
    for (number, count) in truth {
      if let entry = top[key(number)] {
        #expect(entry.count <= count && count <= entry.count + entry.mayMiss)
      } else {
        #expect(count <= top.missing)
      }
    }
  }

  @Test
  func `the frequent ones of many values are shown, though most events are of rare ones`() {
    var top = TopValues()
    var truth: [Int: UInt64] = [:]
    var random = SeededRandom(seed: 7)
    for event in 0..<60_000 {
      // Rank n is about 1/n as frequent as the first.
      let common = Int(1 / Double.random(in: 0.01...1, using: &random))
      let number = event % 4 == 0 ? common : 1000 + event
      insert(number, into: &top, limit: TopValues.kept(toShow: 20))
      truth[number, default: 0] += 1
    }
    let shown = top.sorted().prefix(20).map(\.key)
    let best = truth.sorted { $0.value > $1.value }.prefix(16)
    #expect(best.allSatisfy { shown.contains(key($0.key)) })
    // Twice as many as are shown would not do.
    #expect(TopValues.kept(toShow: 20) == 200 && TopValues.kept(toShow: 10_000) == 10_000)
  }

  @Test func `merged counts keep their promise`() throws {
    var a = TopValues()
    var b = TopValues()
    for number in 0..<300 {
      for _ in 0..<(number % 7 + 1) {
        insert(number, into: &a, limit: 40)
        insert(number * 2, into: &b, limit: 40)
      }
    }
    let total = a.total + b.total
    a.merge(b, limit: 40)
    #expect(a.total == total && a.entries.count <= 80)
    for number in 0..<600 {
      guard let entry = a[key(number)] else { continue }
      let truth = (number < 300 ? number % 7 + 1 : 0) + (number % 2 == 0 ? number / 2 % 7 + 1 : 0)
      #expect(entry.count <= UInt64(truth) && UInt64(truth) <= entry.count + entry.mayMiss)
    }
    var writer = StateWriter()
    a.encode(to: &writer)
    var reader = StateReader(writer.bytes)
    #expect(try TopValues(from: &reader) == a)
  }
}

@Suite struct BucketRuleTests {
  @Test func `move counts get the labels of the typed event`() {
    let rule = BucketRule.moveCountCategory
    #expect(rule.labels == ["< 8", "8 - 14", "15 - 20", "21 - 30", "> 30", "invalid"])
    for count in -2...40 {
      let label = rule.labels[rule.index(of: Double(count))]
      #expect(label == MoveCountCategory(moveCount: count).rawValue)
    }
    #expect(rule.labels[rule.index(of: 1e300)] == "> 30")
    #expect(rule.labels[rule.index(of: -0.5)] == "invalid")
  }

  @Test(arguments: [
    (-5.0, "< 0"), (0, "0 - 10"), (9.99, "0 - 10"), (10, "10 - 99.5"), (99.5, ">= 99.5"),
    (1e308, ">= 99.5"),
  ])
  func `a bound belongs to the bucket above it`(value: Double, label: String) {
    let rule = BucketRule.bounds([0, 10, 99.5])
    #expect(rule.labels[rule.index(of: value)] == label)
  }
}
