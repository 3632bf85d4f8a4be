/// Negamax with alpha-beta cuts, to a fixed number of moves ahead. Pure and exact: no table, no
/// clock, so the same position always gets the same value.
enum Search {
  /// The value of a game won at once. A later win counts one less a move, so that a player takes
  /// the shortest way to win and the longest to lose.
  static let win = 10_000

  /// Centre first: its moves are the best most often, and alpha-beta cuts more the earlier it
  /// sees them.
  static let order = [3, 2, 4, 1, 5, 0, 6]

  /// The legal columns that are worth most to the side to move, all of equal value.
  ///
  /// Empty only when the game is over.
  static func bestColumns(on board: Board, depth: Int) -> [Int] {
    guard !board.isOver else { return [] }
    var best = -win - 1
    var columns: [Int] = []
    for column in order where board.hasRoom(in: column) {
      var next = board
      next.place(in: column)
      // One below the best so far, not the best itself: a move of equal value must come back with
      // its true value, or a worse one would look equal.
      let value = -Self.value(of: next, depth: depth - 1, above: -win - 1, below: -(best - 1))
      if value > best {
        best = value
        columns = [column]
      } else if value == best {
        columns.append(column)
      }
    }
    return columns
  }

  /// The value for the side to move, exact between the bounds, else a bound itself.
  static func value(of board: Board, depth: Int, above lower: Int, below upper: Int) -> Int {
    if Board.hasLine(board.opposing) { return board.moveCount - win }
    if board.isFull { return 0 }
    if depth <= 0 { return board.evaluation }
    var lower = lower
    for column in order where board.hasRoom(in: column) {
      var next = board
      next.place(in: column)
      let value = -Self.value(of: next, depth: depth - 1, above: -upper, below: -lower)
      if value >= upper { return value }
      lower = max(lower, value)
    }
    return lower
  }
}
