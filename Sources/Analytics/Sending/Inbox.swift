internal import Synchronization

/// What callers hand to an actor without waiting for it: a lock for some nanoseconds, no hop.
///
/// Bounded: what does not fit is counted, and its owner counts it as shed. Items lie in chunks, so that
/// no append moves others.
final class Inbox<Item: Sendable>: Sendable {
  private struct State {
    var chunks: [[Item]] = []
    var count = 0
    var overflow = 0
    var isClosed = false
  }

  private let state = Mutex(State())
  private let limit: Int
  private static var chunkItems: Int { 512 }

  init(limit: Int) { self.limit = limit }

  /// Takes the item; true when the owner has to be woken, since it was the first.
  func add(_ item: Item) -> Bool {
    state.withLock { state in
      guard !state.isClosed, state.count < limit else {
        state.overflow += 1
        return state.overflow == 1
      }
      let isFirst = state.count == 0 && state.overflow == 0
      if state.chunks.last.map({ $0.count == Self.chunkItems }) ?? true {
        var chunk: [Item] = []
        // Most wakes find a handful; only a second chunk says that there are many.
        chunk.reserveCapacity(state.chunks.isEmpty ? 16 : Self.chunkItems)
        state.chunks.append(chunk)
      }
      state.chunks[state.chunks.count - 1].append(item)
      state.count += 1
      return isFirst
    }
  }

  /// The oldest chunk, and how many found no room since the last call; empty when there is nothing.
  func take() -> (items: [Item], overflow: Int) {
    state.withLock { state in
      let items = state.chunks.isEmpty ? [] : state.chunks.removeFirst()
      state.count -= items.count
      let overflow = state.overflow
      state.overflow = 0
      return (items, overflow)
    }
  }

  /// What comes later only counts.
  func close() { state.withLock { $0.isClosed = true } }
}
