import Primitives
import Testing

@testable import Destinations

struct QueueTests {
  @Test func `it gives out in order what was appended and put back`() {
    var random = SeededRandom(seed: 7)
    var queue = Queue<Int>()
    var model: [Int] = []
    for number in 0..<5000 {
      switch Int.random(in: 0..<5, using: &random) {
      case 0, 1:
        queue.append(number)
        model.append(number)
      case 2, 3:
        #expect(queue.popFirst() == (model.isEmpty ? nil : model.removeFirst()))
      default:
        let front = Array(number..<number + Int.random(in: 0...6, using: &random))
        queue.prepend(front)
        model = front + model
      }
      #expect(queue.count == model.count)
      #expect(queue.first == model.first)
    }
    #expect((0..<queue.count).map { queue[$0] } == model)
  }

  @Test func `waits grow, and stay within their steps`() {
    var random = SeededRandom(seed: 1)
    var backoff = StepBackoff(base: .milliseconds(500), limit: .seconds(300))
    var ceiling: Int64 = 500_000_000
    for _ in 0..<20 {
      let wait = backoff.next(using: &random)
      #expect((ceiling / 2...ceiling).contains(wait))
      ceiling = min(ceiling * 2, 300_000_000_000)
    }
  }
}
