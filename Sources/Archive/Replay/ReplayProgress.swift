internal import BusProtocol

/// Up to where a replay is acknowledged, from counts alone: a producer says how many of its events are on
/// the broker's disk, in order, and not which.
///
/// Keeps the place of every 256th event on its way, so memory is bounded by what a producer may hold.
/// Refused events make it lag behind a little, never run ahead: they are not counted as acknowledged.
struct ReplayProgress: Sendable {
  static let stride: UInt64 = 256

  /// How many events had been published, and where the next one would be.
  private struct Mark {
    var published: UInt64
    var next: Position
  }

  private var marks = [Mark]()
  private var first = 0
  private(set) var published: UInt64 = 0
  /// Everything before it is acknowledged, or was not wanted.
  private(set) var next: Position

  init(next: Position) { self.next = next }

  /// An event was given to the producer; the next one can stand at `place` at the earliest.
  mutating func publish(next place: Position) {
    published += 1
    if published % Self.stride == 0 { marks.append(Mark(published: published, next: place)) }
  }

  /// So many of them are on disk.
  mutating func acknowledge(_ count: UInt64) {
    while first < marks.count, marks[first].published <= count {
      next = marks[first].next
      first += 1
    }
    if first > 1024 {
      marks.removeSubrange(..<first)
      first = 0
    }
  }

  /// Everything before `place` was looked at, and all that was published is on disk or refused.
  mutating func settle(through place: Position) { next = max(next, place) }
}
