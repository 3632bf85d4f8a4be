/// Finds what somebody most likely meant.
enum NearestWord {
  /// The known word that takes the fewest changes of letters; nil when half of the letters would change.
  static func to(_ word: String, in known: [String]) -> String? {
    let best = known.map { (word: $0, distance: distance(word, $0)) }
      .min { $0.distance < $1.distance }
    guard let best, best.distance <= max(2, word.utf8.count / 2) else { return nil }
    return best.word
  }

  private static func distance(_ a: String, _ b: String) -> Int {
    let a = Array(a.utf8.prefix(64))
    let b = Array(b.utf8.prefix(64))
    var beforeLast: [Int] = []
    var last = Array(0...b.count)
    for i in a.indices {
      var row = [i + 1]
      for j in b.indices {
        var best = min(last[j + 1] + 1, row[j] + 1, last[j] + (a[i] == b[j] ? 0 : 1))
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
}
