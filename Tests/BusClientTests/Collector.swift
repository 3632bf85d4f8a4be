import Synchronization

/// What callbacks on other threads reported, in order.
final class Collector<Element: Sendable>: Sendable {
  private let elements = Mutex<[Element]>([])

  func add(_ element: Element) { elements.withLock { $0.append(element) } }

  var all: [Element] { elements.withLock { $0 } }
}
