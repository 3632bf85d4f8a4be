import Testing

@testable import DropFour

/// Tests of the rules: what wins, what is a draw, what is refused.
@Suite struct BoardTests {
  /// Makes moves by column, both sides in turn.
  static func board(_ columns: [Int]) throws -> Board {
    var board = Board()
    for column in columns { try board.drop(into: column) }
    return board
  }

  /// Every line of four on the board: 24 level, 21 upright, 12 rising, 12 falling.
  static let lines: [[(column: Int, row: Int)]] = {
    var lines: [[(column: Int, row: Int)]] = []
    for (right, up) in [(1, 0), (0, 1), (1, 1), (1, -1)] {
      for column in 0..<Board.columnCount {
        for row in 0..<Board.rowCount {
          let line = (0..<4).map { (column: column + $0 * right, row: row + $0 * up) }
          let last = line[3]
          guard last.column < Board.columnCount, (0..<Board.rowCount).contains(last.row) else {
            continue
          }
          lines.append(line)
        }
      }
    }
    return lines
  }()

  static func squares(_ line: [(column: Int, row: Int)]) -> UInt64 {
    line.reduce(0) { $0 | 1 << UInt64($1.column * 7 + $1.row) }
  }

  @Test func `every line of four on the board wins`() {
    #expect(Self.lines.count == 69)
    for line in Self.lines { #expect(Board.hasLine(Self.squares(line)), "\(line)") }
  }

  @Test func `three of a line do not win and its fourth square completes it`() {
    for line in Self.lines {
      for missing in 0..<4 {
        let square = Self.squares([line[missing]])
        let three = Self.squares(line) & ~square
        #expect(!Board.hasLine(three))
        // An upright line is completed on top only: pieces fall.
        let isReachable = line[0].column != line[3].column || missing == 3
        #expect((Board.completingSquares(of: three) & square != 0) == isReachable, "\(line)")
      }
    }
  }

  @Test func `a line does not run from the top of one column into the next`() {
    for column in 0..<(Board.columnCount - 1) {
      for upper in 1...3 {
        let top = (0..<upper).map { (column: column, row: Board.rowCount - 1 - $0) }
        let bottom = (0..<(4 - upper)).map { (column: column + 1, row: $0) }
        #expect(!Board.hasLine(Self.squares(top + bottom)))
      }
    }
  }

  @Test(arguments: [
    (columns: [0, 1, 0, 1, 0, 1, 0], winner: Side.first),  // upright
    (columns: [6, 0, 0, 1, 1, 2, 2, 3], winner: .second),  // level
    (columns: [0, 1, 1, 2, 2, 3, 2, 3, 3, 6, 3], winner: .first),  // rising
    (columns: [6, 5, 5, 4, 4, 3, 4, 3, 3, 0, 3], winner: .first),  // falling
  ])
  func `a game ends with the move that makes a line`(_ game: (columns: [Int], winner: Side)) throws
  {
    let before = try Self.board(game.columns.dropLast())
    #expect(before.winner == nil)
    #expect(!before.isOver)
    let after = try Self.board(game.columns)
    #expect(after.winner == game.winner)
    #expect(after.legalColumns.isEmpty)
  }

  @Test func `a full board without a line is a draw`() throws {
    let board = try Self.board(Self.drawnGame)
    #expect(board.moveCount == 42)
    #expect(board.winner == nil)
    #expect(board.isFull)
    #expect(board.isOver)
  }

  /// A game of two players of depth 3 that nobody won.
  static let drawnGame = [
    3, 3, 4, 5, 4, 3, 3, 3, 4, 4, 5, 6, 5, 5, 1, 2, 5, 6, 1, 4, 3, 2, 2, 0, 5, 4, 6, 6, 0, 1, 2, 2,
    2, 6, 6, 0, 0, 1, 1, 0, 0, 1,
  ]

  @Test func `pieces fall to the lowest empty square`() throws {
    let board = try Self.board([3, 3, 2])
    #expect(board[3, 0] == .first)
    #expect(board[3, 1] == .second)
    #expect(board[3, 2] == nil)
    #expect(board[2, 0] == .first)
    #expect(board.sideToMove == .second)
  }

  @Test(arguments: [-1, 7, .max, .min])
  func `a column off the board is refused`(_ column: Int) {
    var board = Board()
    #expect(throws: IllegalMove.noSuchColumn(column)) { try board.drop(into: column) }
    #expect(board == Board())
  }

  @Test func `a full column is refused and the others stay legal`() throws {
    var board = try Self.board([0, 0, 0, 0, 0, 0])
    let before = board
    #expect(board.legalColumns == [1, 2, 3, 4, 5, 6])
    #expect(throws: IllegalMove.columnIsFull(0)) { try board.drop(into: 0) }
    #expect(board == before)
  }

  @Test func `no move is legal after a win`() throws {
    var board = try Self.board([0, 1, 0, 1, 0, 1, 0])
    #expect(throws: IllegalMove.gameIsOver) { try board.drop(into: 5) }
  }
}
