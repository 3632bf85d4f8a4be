/// What an operator should know: a line for the log of a service.
public struct OperatorReport: Hashable, Sendable {
  public enum Level: Sendable { case info, warning, error }

  public var level: Level
  /// For machines; stays the same from version to version.
  public var key: String
  public var text: String

  public init(_ level: Level, _ key: String, _ text: String) {
    self.level = level
    self.key = key
    self.text = text
  }
}
