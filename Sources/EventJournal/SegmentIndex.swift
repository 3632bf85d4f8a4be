/// A place in a segment file where a record begins, and what the parser must know to begin there.
struct SegmentPlace: Hashable, Sendable {
  var offset: UInt64
  var position: Int
  var epoch: UInt32
  /// Journal time of the record before: none behind this place is older.
  var time: Int64
}

/// Known places of one segment file: one about every 256 KiB, and the ends of the latest reads, so that
/// who reads on finds the place at once. A cache: filled by writing and by reading, never stored.
struct SegmentIndex: Sendable {
  static let spacing = 256 << 10
  static let recentLimit = 64

  /// In the order of their positions.
  private var places: [SegmentPlace]
  private var recent: [SegmentPlace] = []
  private var nextRecent = 0

  /// `start` is where the records begin.
  init(start: SegmentPlace) { places = [start] }

  /// The last known place at or before `offset`.
  func place(atOrBefore offset: UInt64) -> SegmentPlace {
    if let exact = recent.first(where: { $0.offset == offset }) { return exact }
    return places[max(0, partition { $0.offset <= offset } - 1)]
  }

  /// The last known place before which everything is older than `time`.
  func place(olderThan time: Int64) -> SegmentPlace {
    places[max(0, partition { $0.time < time } - 1)]
  }

  /// Remembers a place if none is known near it.
  mutating func note(_ place: SegmentPlace) {
    let at = partition { $0.position <= place.position }
    let before = places[max(0, at - 1)]
    guard place.position >= before.position + Self.spacing else { return }
    if at < places.count, places[at].position < place.position + Self.spacing { return }
    places.insert(place, at: at)
  }

  /// Remembers where a read ended.
  mutating func noteRecent(_ place: SegmentPlace) {
    if recent.count < Self.recentLimit {
      recent.append(place)
    } else {
      recent[nextRecent] = place
      nextRecent = (nextRecent + 1) % Self.recentLimit
    }
  }

  /// How many places at the front fulfil `isBefore`, which no later one does after the first that
  /// does not.
  private func partition(_ isBefore: (SegmentPlace) -> Bool) -> Int {
    var low = 0
    var high = places.count
    while low < high {
      let middle = (low + high) / 2
      if isBefore(places[middle]) { low = middle + 1 } else { high = middle }
    }
    return low
  }
}
