import Primitives
import Testing

@testable import DropFour

/// Tests of the players and of whole games.
@Suite struct GameTests {
  @Test func `the same seed makes the same game`() {
    func moves(seed: UInt64) -> [Move] {
      var game = Game(first: ComputerPlayer(depth: 2), second: ComputerPlayer(depth: 1), seed: seed)
      _ = game.playToEnd()
      return game.moves
    }
    #expect(moves(seed: 7) == moves(seed: 7))
    #expect(Set((0..<20).map { moves(seed: $0) }).count > 10)
  }

  @Test func `a game keeps the rules to its end`() throws {
    for seed in UInt64(0)..<100 {
      var game = Game(first: ComputerPlayer(depth: 0), second: ComputerPlayer(depth: 0), seed: seed)
      var board = Board()
      while let move = game.playMove() {
        #expect(move.side == board.sideToMove)
        try board.drop(into: move.column)
        #expect(move.number == board.moveCount)
      }
      #expect(board == game.board)
      #expect(board.isOver)
      #expect(game.outcome == board.winner.map { Outcome.won(by: $0) } ?? .draw)
      #expect((7...42).contains(game.moveCount))
      #expect(game.playMove() == nil)
    }
  }

  @Test(arguments: [
    (deep: 1, shallow: 0), (deep: 3, shallow: 1), (deep: 4, shallow: 2), (deep: 5, shallow: 2),
  ])
  func `the deeper player beats the shallower`(_ depths: (deep: Int, shallow: Int)) {
    let deep = ComputerPlayer(depth: depths.deep)
    let shallow = ComputerPlayer(depth: depths.shallow)
    var deepWins = 0
    var shallowWins = 0
    for seed in UInt64(0)..<100 {
      // Moving first is an advantage, so each side has it in half of the games.
      let deepIsFirst = seed.isMultiple(of: 2)
      var game = Game(
        first: deepIsFirst ? deep : shallow, second: deepIsFirst ? shallow : deep, seed: seed)
      switch game.playToEnd() {
      case .won(by: let side) where (side == .first) == deepIsFirst: deepWins += 1
      case .won: shallowWins += 1
      case .draw: break
      }
    }
    #expect(2 * deepWins > 3 * shallowWins, "\(deepWins) against \(shallowWins)")
  }

  @Test(arguments: 1...6)
  func `a player takes a win at once`(_ depth: Int) throws {
    let board = try BoardTests.board([0, 1, 0, 1, 0, 1])
    #expect(Search.bestColumns(on: board, depth: depth) == [0])
  }

  @Test(arguments: 2...6)
  func `a player that sees the answer blocks a win`(_ depth: Int) throws {
    let board = try BoardTests.board([0, 6, 0, 6, 0])
    #expect(Search.bestColumns(on: board, depth: depth) == [0])
  }

  @Test func `cuts do not change the best columns`() {
    var random = SeededRandom(seed: 11)
    for _ in 0..<40 {
      var board = Board()
      for _ in 0..<Int.random(in: 0..<30, using: &random) {
        guard let column = board.legalColumns.randomElement(using: &random) else { break }
        board.place(in: column)
      }
      let values = board.legalColumns.map { column in
        var next = board
        next.place(in: column)
        return (column: column, value: -Self.plainValue(of: next, depth: 2))
      }
      let best = values.map(\.value).max()
      let expected = values.filter { $0.value == best }.map(\.column)
      #expect(Search.bestColumns(on: board, depth: 3).sorted() == expected)
    }
  }

  /// Negamax without any cut, to compare with.
  static func plainValue(of board: Board, depth: Int) -> Int {
    if board.winner != nil { return board.moveCount - Search.win }
    if board.isFull { return 0 }
    if depth == 0 { return board.evaluation }
    return board.legalColumns.map { column in
      var next = board
      next.place(in: column)
      return -plainValue(of: next, depth: depth - 1)
    }.max() ?? 0
  }
}
