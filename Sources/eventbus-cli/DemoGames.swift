import DropFour
import EventModel
import Primitives

/// One game after the other, each as the events that an app would publish of it.
///
/// Players of different strength meet, so that games of all lengths and outcomes come up; some are given
/// up half way, and some end with a question. The same seed makes the same games.
struct DemoGames {
  private var random: SeededRandom
  /// Random play to players who see four moves ahead: a move costs 25 µs at most.
  private static let depths = 0...4

  init(seed: UInt64) { random = SeededRandom(seed: seed) }

  /// Who plays next: of 5,000 people some play every day and most now and then.
  mutating func nextPlayer() -> String {
    let share = Double.random(in: 0..<1, using: &random)
    return "player-\(1 + Int(share * share * 5000))"
  }

  mutating func next() -> [any PublishableEvent] {
    let opponent = OpponentType.allCases.randomElement(using: &random) ?? .computer
    var game = Game(
      first: ComputerPlayer(depth: Int.random(in: Self.depths, using: &random)),
      second: ComputerPlayer(depth: Int.random(in: Self.depths, using: &random)),
      seed: random.next())
    var events: [any PublishableEvent] = [EventType.GameStarted(opponentType: opponent)]
    if isOne(in: 10) {
      for _ in 0..<Int.random(in: 1...6, using: &random) { _ = game.playMove() }
      return events + [EventType.GameReset()]
    }
    let winner: WinningPlayer =
      switch game.playToEnd() {
      case .won(by: .first): .first
      case .won(by: .second): .second
      case .draw: .draw
      }
    events.append(
      EventType.GameEnded(
        opponentType: opponent, winningPlayer: winner, moveCount: game.moveCount))
    if isOne(in: 5) { events.append(answer(to: winner)) }
    return events
  }

  private mutating func answer(to winner: WinningPlayer) -> EventType.SurveyAnswer {
    let pleased = winner == .first ? ["Very much", "Yes"] : ["Yes", "Not really"]
    return EventType.SurveyAnswer(
      question: "Did you enjoy the game?",
      answer: pleased.randomElement(using: &random) ?? "Yes")
  }

  private mutating func isOne(in count: Int) -> Bool {
    Int.random(in: 0..<count, using: &random) == 0
  }
}
