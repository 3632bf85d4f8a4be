/// First in, first out; what was taken can be put back at the front.
///
/// An array with a moving start. The front is given back when it is half of the array, so taking costs
/// O(1) on average.
struct Queue<Element: Sendable>: Sendable {
  private var elements: [Element?] = []
  private var start = 0

  var count: Int { elements.count - start }
  var isEmpty: Bool { count == 0 }
  var first: Element? { isEmpty ? nil : elements[start] }

  mutating func append(_ element: Element) { elements.append(element) }

  mutating func popFirst() -> Element? {
    guard start < elements.count else { return nil }
    let first = elements[start].take()
    start += 1
    if start > 32, start * 2 > elements.count {
      elements.removeFirst(start)
      start = 0
    }
    return first
  }

  /// Puts elements before the first one, in their order.
  mutating func prepend(_ front: [Element]) {
    let room = min(start, front.count)
    // Into the places that were freed, and before them what finds none.
    for index in 0..<room { elements[start - 1 - index] = front[front.count - 1 - index] }
    start -= room
    if room < front.count {
      let rest = front[..<(front.count - room)].map { Optional($0) }
      elements.insert(contentsOf: rest, at: start)
    }
  }

  /// By distance from the first.
  subscript(index: Int) -> Element {
    get { elements[start + index]! }
    _modify { yield &elements[start + index]! }
  }
}
