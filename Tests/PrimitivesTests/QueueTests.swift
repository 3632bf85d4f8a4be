import Primitives
import Testing

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

  @Test func `elements are taken out and put in where they stand`() {
    var random = SeededRandom(seed: 8)
    var queue = Queue<Int>()
    var model: [Int] = []
    for number in 0..<5000 {
      let place = Int.random(in: 0...model.count, using: &random)
      switch Int.random(in: 0..<4, using: &random) {
      case 0:
        #expect(queue.popFirst() == (model.isEmpty ? nil : model.removeFirst()))
      case 1 where place < model.count:
        queue.remove(at: place)
        model.remove(at: place)
      default:
        queue.insert(number, at: place)
        model.insert(number, at: place)
      }
    }
    #expect((0..<queue.count).map { queue[$0] } == model)
  }
}
