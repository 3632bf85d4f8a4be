/// First in, first out, with elements that can be changed where they stand.
///
/// An array with a moving start: the front is given back when half of it is empty, so that taking is
/// O(1) on average and elements are never copied one by one.
struct Queue<Element: Sendable>: Sendable {
  private var elements: [Element?] = []
  private var start = 0

  var count: Int { elements.count - start }
  var isEmpty: Bool { count == 0 }

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

  mutating func remove(at index: Int) { elements.remove(at: start + index) }

  mutating func insert(_ element: Element, at index: Int) {
    elements.insert(element, at: start + index)
  }

  subscript(index: Int) -> Element {
    get { elements[start + index]! }
    _modify { yield &elements[start + index]! }
  }
}
