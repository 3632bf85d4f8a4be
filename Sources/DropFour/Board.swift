/// The two sides of a game. `first` makes the first move.
public enum Side: Sendable, Hashable, CaseIterable {
  case first, second

  public var other: Side { self == .first ? .second : .first }
}

/// A position of drop-four: seven columns, six rows, four in a line win.
///
/// Two bitboards. Bit `column * 7 + row` is a square, row 0 at the bottom; the seventh bit of each
/// column stays empty, so that a shifted line never runs from the top of one column into the next:
///
///     row 6 |  6 13 20 27 34 41 48     always empty
///     row 5 |  5 12 19 26 33 40 47
///       …   |
///     row 0 |  0  7 14 21 28 35 42
///
/// A move and a win test cost a few instructions each and allocate nothing.
public struct Board: Sendable, Hashable {
  public static let columnCount = 7
  public static let rowCount = 6
  public static let squareCount = columnCount * rowCount

  /// The distances in bits between neighbours: upward, along a row, and both diagonals.
  static let lineSteps = (up: UInt64(1), row: UInt64(7), falling: UInt64(6), rising: UInt64(8))
  static let fullColumn: UInt64 = 0b11_1111
  /// Each square of the board once; without the empty seventh row.
  static let allSquares = (0..<columnCount).reduce(UInt64(0)) { $0 | fullColumn << UInt64($1 * 7) }

  /// The squares of the side to move.
  var own: UInt64 = 0
  /// The squares of the side that moved last.
  var opposing: UInt64 = 0

  /// An empty board; ``Side/first`` is to move.
  public init() {}

  /// The moves made so far, 0 to 42.
  public var moveCount: Int { (own | opposing).nonzeroBitCount }

  public var sideToMove: Side { moveCount.isMultiple(of: 2) ? .first : .second }

  /// The side whose last move made a line of four, if any.
  public var winner: Side? { Self.hasLine(opposing) ? sideToMove.other : nil }

  public var isFull: Bool { moveCount == Self.squareCount }

  /// True once a side won or no square is left.
  public var isOver: Bool { isFull || winner != nil }

  /// The columns, 0 to 6 from the left, that take another piece; none once the game is over.
  public var legalColumns: [Int] { isOver ? [] : (0..<Self.columnCount).filter(hasRoom) }

  /// The side that holds a square; nil when it is empty.
  ///
  /// Column and row must be on the board; row 0 is the lowest.
  public subscript(column: Int, row: Int) -> Side? {
    precondition((0..<Self.columnCount).contains(column), "no column \(column)")
    precondition((0..<Self.rowCount).contains(row), "no row \(row)")
    let square = UInt64(1) << UInt64(column * 7 + row)
    if own & square != 0 { return sideToMove }
    return opposing & square != 0 ? sideToMove.other : nil
  }

  /// Drops a piece of the side to move into a column.
  ///
  /// - Throws: ``IllegalMove``; the board is then as it was.
  public mutating func drop(into column: Int) throws(IllegalMove) {
    guard (0..<Self.columnCount).contains(column) else { throw .noSuchColumn(column) }
    guard !isOver else { throw .gameIsOver }
    guard hasRoom(in: column) else { throw .columnIsFull(column) }
    place(in: column)
  }

  /// Whether a column of the board takes another piece, whoever won.
  func hasRoom(in column: Int) -> Bool {
    (own | opposing) & (1 << UInt64(column * 7 + Self.rowCount - 1)) == 0
  }

  /// Makes a move already known to be legal and hands the turn over.
  mutating func place(in column: Int) {
    let occupied = own | opposing
    // Adding one to the column's lowest bit carries to its first empty square.
    let lowest = UInt64(1) << UInt64(column * 7)
    let moved = occupied | (occupied &+ lowest) & (Self.fullColumn << UInt64(column * 7))
    own = opposing
    opposing = moved ^ own
  }

  /// Whether four squares of a set stand in a line: upright, level or on either diagonal.
  static func hasLine(_ squares: UInt64) -> Bool {
    func hasLine(along step: UInt64) -> Bool {
      let pairs = squares & (squares >> step)
      return pairs & (pairs >> (2 * step)) != 0
    }
    return hasLine(along: lineSteps.up) || hasLine(along: lineSteps.row)
      || hasLine(along: lineSteps.falling) || hasLine(along: lineSteps.rising)
  }
}

/// Why a move was refused; the caller chooses another of ``Board/legalColumns``.
public enum IllegalMove: Error, Hashable, Sendable {
  case noSuchColumn(Int)
  case columnIsFull(Int)
  /// The board is full or a side has won: no move is legal any more.
  case gameIsOver
}
