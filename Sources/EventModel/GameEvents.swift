// The sample catalogue: the events of a game for two. It shows the forms that an event can take: by
// hand with other names on the wire, by hand with the same names, and with no properties at all.

/// Who plays against the person.
public enum OpponentType: String, Sendable, Hashable, Codable, CaseIterable {
  case human, computer
}

public enum WinningPlayer: String, Sendable, Hashable, Codable, CaseIterable {
  case first, second, draw
}

extension EventType {
  public struct GameStarted: PublishableEvent, SubscribableEvent, Hashable {
    public static let eventType: EventType = "Game Started"

    public var opponentType: OpponentType

    public init(opponentType: OpponentType) { self.opponentType = opponentType }

    public init(properties: PropertyReader) throws(EventDecodingError) {
      opponentType = try properties.read("opponentType")
    }

    public func encodeProperties(into writer: inout PropertyWriter) {
      writer.write("opponentType", opponentType)
    }
  }

  /// On the wire the number of moves is two properties: its category, and the number as `value`.
  public struct GameEnded: PublishableEvent, SubscribableEvent, Hashable {
    public static let eventType: EventType = "Game Ended"

    public var opponentType: OpponentType
    public var winningPlayer: WinningPlayer
    public var moveCount: Int

    public init(opponentType: OpponentType, winningPlayer: WinningPlayer, moveCount: Int) {
      self.opponentType = opponentType
      self.winningPlayer = winningPlayer
      self.moveCount = moveCount
    }

    public var moveCountCategory: MoveCountCategory { MoveCountCategory(moveCount: moveCount) }

    public init(properties: PropertyReader) throws(EventDecodingError) {
      opponentType = try properties.read("Opponent Type")
      winningPlayer = try properties.read("Winning Player")
      moveCount = try properties.read("value")
    }

    public func encodeProperties(into writer: inout PropertyWriter) {
      writer.write("Opponent Type", opponentType)
      writer.write("Winning Player", winningPlayer)
      writer.write("Number of Moves", moveCountCategory)
      writer.write("value", moveCount)
    }
  }

  public struct GameReset: PublishableEvent, SubscribableEvent, Hashable {
    public static let eventType: EventType = "Game Reset"

    public init() {}

    public init(properties: PropertyReader) {}
  }

  public struct SurveyAnswer: PublishableEvent, SubscribableEvent, Hashable, Codable {
    public static let eventType: EventType = "Survey Answer"

    public var question: String
    public var answer: String

    public init(question: String, answer: String) {
      self.question = question
      self.answer = answer
    }
  }

  /// The types of the sample catalogue. A program lists its own in an ``EventCatalog``.
  public static let allEventTypes = EventCatalog.samples.allEventTypes
}

extension EventCatalog {
  public static let samples = EventCatalog([
    EventType.GameStarted.self, EventType.GameEnded.self, EventType.GameReset.self,
    EventType.SurveyAnswer.self,
  ])
}
