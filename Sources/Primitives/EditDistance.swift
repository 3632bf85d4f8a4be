/// Finds what the user most likely meant.
public enum EditDistance {
  /// Insertions, deletions, replacements and swaps of neighbours that turn one text into the other.
  public static func between(_ a: String, _ b: String) -> Int {
    let a = Array(a.utf8)
    let b = Array(b.utf8)
    var beforeLast: [Int] = []
    var last = Array(0...b.count)
    for i in a.indices {
      var row = [i + 1]
      row.reserveCapacity(b.count + 1)
      for j in b.indices {
        let isSame = a[i] == b[j]
        var best = min(last[j + 1] + 1, row[j] + 1, last[j] + (isSame ? 0 : 1))
        if i > 0, j > 0, a[i] == b[j - 1], a[i - 1] == b[j] {
          best = min(best, beforeLast[j - 1] + 1)
        }
        row.append(best)
      }
      beforeLast = last
      last = row
    }
    return last[b.count]
  }

  /// The known word of which `word` may be a slip; ties go to the earlier. Nil when it would take more
  /// than one change in a word of up to 4 letters, two up to 8, a third of them beyond; and when the word
  /// is too long to be typed (64 bytes). A wrong guess misleads more than none.
  public static func nearest(to word: String, in known: [String]) -> String? {
    guard word.utf8.count <= 64 else { return nil }
    let best = known.map { (word: $0, distance: score(word, $0)) }
      .min { $0.distance < $1.distance }
    guard let best, best.distance <= limit(word.count) else { return nil }
    return best.word
  }

  private static func limit(_ letters: Int) -> Int {
    switch letters {
    case ...1: 0
    case ...4: 1
    case ...8: 2
    default: letters / 3
    }
  }

  /// A word of which the other is the beginning counts as one slip: `dur` means `duration`.
  private static func score(_ typed: String, _ known: String) -> Int {
    let distance = between(typed, known)
    let isPrefix = typed.utf8.count >= 3 && known.hasPrefix(typed)
    return isPrefix ? min(distance, 1) : distance
  }
}
