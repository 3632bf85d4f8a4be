/// First in, first out; elements can be changed where they stand, and put back at the front.
///
/// An array with a moving start. The front is given back when it is half of the array, so taking costs
/// O(1) on average, and elements are never copied one by one.
public struct Queue<Element: Sendable>: Sendable {
  @usableFromInline var elements: [Element?] = []
  @usableFromInline var start = 0

  public init() {}

  @inlinable public var count: Int { elements.count - start }
  @inlinable public var isEmpty: Bool { count == 0 }
  @inlinable public var first: Element? { isEmpty ? nil : elements[start] }

  @inlinable
  public mutating func append(_ element: Element) { elements.append(element) }

  @inlinable
  public mutating func popFirst() -> Element? {
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
  @inlinable
  public mutating func prepend(_ front: [Element]) {
    let room = min(start, front.count)
    // Into the places that were freed, and before them what finds none.
    for index in 0..<room { elements[start - 1 - index] = front[front.count - 1 - index] }
    start -= room
    if room < front.count {
      let rest = front[..<(front.count - room)].map { Optional($0) }
      elements.insert(contentsOf: rest, at: start)
    }
  }

  @inlinable
  public mutating func remove(at index: Int) { elements.remove(at: start + index) }

  @inlinable
  public mutating func insert(_ element: Element, at index: Int) {
    elements.insert(element, at: start + index)
  }

  /// By distance from the first.
  @inlinable
  public subscript(index: Int) -> Element {
    get { elements[start + index]! }
    _modify { yield &elements[start + index]! }
  }
}
