/// How many events a lane's next request may hold, at most, while many of them are refused.
///
/// A refused request is halved until the bad event is alone; for one bad event among many that takes few
/// requests. Where many are bad it would take as many for each of them. So after a second one the next
/// request holds twice as many events as were taken between the two, at least one, and each that is taken
/// lets the next be twice as large: at worst about two requests an event.
struct Caution: Hashable, Sendable {
  private(set) var most = Int.max
  /// Events taken since the last that was refused alone; nil: none was.
  private var taken: Int?

  mutating func refusedAlone() {
    if let taken { most = taken >= Int.max / 2 ? .max : max(1, taken * 2) }
    taken = 0
  }

  /// - Parameter limit: what a request may hold anyway.
  mutating func took(_ count: Int, limit: Int) {
    if let before = taken { taken = min(before + count, Int.max / 2) }
    most = most >= limit ? .max : most * 2
  }
}
