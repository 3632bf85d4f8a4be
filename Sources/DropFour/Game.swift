internal import Primitives

/// How a game ended.
public enum Outcome: Sendable, Hashable {
  case won(by: Side)
  /// All 42 squares are taken and nobody has a line.
  case draw
}

/// One move of a game.
public struct Move: Sendable, Hashable {
  public var side: Side
  /// 0 to 6 from the left.
  public var column: Int
  /// 1 for the first move of the game.
  public var number: Int
}

/// A game between two computer players, made move by move.
///
/// A pure value: no clock, no system randomness. The same players and seed make the same game on
/// every machine. A game ends after 7 to 42 moves.
///
///     var game = Game(first: ComputerPlayer(depth: 4), second: ComputerPlayer(depth: 2), seed: 7)
///     while let move = game.playMove() { publish(move) }
public struct Game: Sendable {
  public let first: ComputerPlayer
  public let second: ComputerPlayer
  public private(set) var board = Board()
  /// The moves so far, oldest first.
  public private(set) var moves: [Move] = []
  private var random: SeededRandom

  /// A new game; `seed` decides between moves of equal value.
  public init(first: ComputerPlayer, second: ComputerPlayer, seed: UInt64) {
    self.first = first
    self.second = second
    random = SeededRandom(seed: seed)
  }

  public var moveCount: Int { moves.count }

  /// Nil while the game goes on.
  public var outcome: Outcome? {
    if let winner = board.winner { return .won(by: winner) }
    return board.isFull ? .draw : nil
  }

  /// Makes the next move; nil, and no change, once the game is over.
  ///
  /// Costs what the deeper player's search costs; see ``ComputerPlayer/depth``.
  public mutating func playMove() -> Move? {
    let side = board.sideToMove
    let player = side == .first ? first : second
    guard let column = player.chooseColumn(on: board, using: &random) else { return nil }
    board.place(in: column)
    let move = Move(side: side, column: column, number: moves.count + 1)
    moves.append(move)
    return move
  }

  /// Plays on to the end and says how it ended.
  public mutating func playToEnd() -> Outcome {
    while playMove() != nil {}
    guard let outcome else { preconditionFailure("a game without moves must have an outcome") }
    return outcome
  }
}
