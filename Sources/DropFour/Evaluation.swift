extension Board {
  /// How good an undecided position looks for the side to move; positive is good.
  ///
  /// Counts the open squares that would complete a line, whether they can be reached at once or
  /// not: they decide late games. A bonus for the centre column was tried and left out: with it a
  /// player of depth 4 lost to one of depth 2 two times in three. At most 42, so far below a won
  /// position (see ``Search/win``).
  var evaluation: Int {
    let empty = Self.allSquares & ~(own | opposing)
    return (Self.completingSquares(of: own) & empty).nonzeroBitCount
      - (Self.completingSquares(of: opposing) & empty).nonzeroBitCount
  }

  /// The squares that would make a line of four with three of a set, taken or not.
  ///
  /// May name squares off the board: mask the answer.
  static func completingSquares(of squares: UInt64) -> UInt64 {
    // Upright lines are completed on top only.
    let up = squares << 1 & squares << 2 & squares << 3
    return up | completingSquares(of: squares, along: lineSteps.row)
      | completingSquares(of: squares, along: lineSteps.falling)
      | completingSquares(of: squares, along: lineSteps.rising)
  }

  /// Both ends of three in a row, and the gaps of two and one.
  private static func completingSquares(of squares: UInt64, along step: UInt64) -> UInt64 {
    let upperPairs = squares << step & squares << (2 * step)
    let lowerPairs = squares >> step & squares >> (2 * step)
    return upperPairs & squares << (3 * step) | upperPairs & squares >> step
      | lowerPairs & squares << step | lowerPairs & squares >> (3 * step)
  }
}
