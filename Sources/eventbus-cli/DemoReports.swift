import Primitives
import ServiceRuntime

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// What the demonstration counts of its games, besides the usual reports.
enum DemoReports {
  static let text = """
    {"reports": [
      {"name": "games-played", "title": "Games begun and ended",
       "funnel": [{"exact": "Game Started"}, {"exact": "Game Ended"}, {"exact": "Survey Answer"}],
       "within": "1h", "window": "day", "fill": true},
      {"name": "games-by-opponent", "title": "Ended games by opponent and winner",
       "exact": ["Game Ended"], "by": ["properties.Opponent Type", "properties.Winning Player"],
       "measures": ["count", {"unique": "user"}], "window": "hour", "fill": true},
      {"name": "games-by-moves", "title": "Ended games by number of moves", "exact": ["Game Ended"],
       "by": [{"of": "properties.value", "buckets": "MoveCountCategory"}], "window": "hour",
       "fill": true},
      {"name": "moves", "title": "Moves in a game", "exact": ["Game Ended"],
       "measures": [{"quantiles": "properties.value", "at": [0.1, 0.5, 0.9, 0.99]}],
       "window": "minute", "fill": true}
    ]}

    """

  /// Makes the folder too where it is not there yet.
  static func write(to path: String) throws {
    let folder = String(path.prefix(upTo: path.lastIndex(of: "/") ?? path.startIndex))
    if !folder.isEmpty, unsafe mkdir(folder, 0o755) != 0, errno != EEXIST {
      throw CommandFailure(.failed, "\(SystemError(call: "mkdir", code: errno, subject: folder))")
    }
    let file = try FileWriter(creating: path)
    for line in text.split(separator: "\n") { file.writeLine(Array(line.utf8)) }
  }
}

extension SmallFile {
  static func exists(_ path: String) -> Bool { unsafe access(path, R_OK) == 0 }
}
