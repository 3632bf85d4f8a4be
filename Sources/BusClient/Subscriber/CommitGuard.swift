internal import BusProtocol

/// Which commits an operator's seek has made stale: the program may still hold batches that it took
/// before, and a commit of one of those would move the cursor away from where the seek put it.
struct CommitGuard: Sendable {
  /// Where the last seek put the cursor; nil while there was none, when everything may be committed.
  private var sought: Position?
  /// The end of what the program took since.
  private var taken: Position?

  mutating func seek(to position: Position) {
    sought = position
    taken = nil
  }

  mutating func took(through end: Position) {
    if sought != nil { taken = end }
  }

  func allows(_ position: Position) -> Bool {
    guard let sought else { return true }
    return position >= sought && position <= taken ?? sought
  }
}
