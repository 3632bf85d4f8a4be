internal import Primitives

/// Finds what somebody most likely meant.
enum Nearest {
  /// The known word that takes the fewest changes; nil when half of the letters would change.
  static func word(to word: String, in known: [String]) -> String? {
    guard let nearest = EditDistance.nearest(to: word, in: known),
      EditDistance.between(word, nearest) <= max(2, word.utf8.count / 2)
    else { return nil }
    return nearest
  }
}
