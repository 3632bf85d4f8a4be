/// Builds a list of events from statements: events, optional events, lists of events, `if`, `if`/`else`,
/// `switch`, `for` and `if #available`.
@resultBuilder
public enum AnalyticsEventBuilder {
  /// What the statements of a block come to.
  public typealias Events = [any PublishableEvent]

  /// An event.
  public static func buildExpression(_ event: any PublishableEvent) -> Events { [event] }

  /// An event that may not be there; nil adds nothing.
  public static func buildExpression(_ event: (any PublishableEvent)?) -> Events {
    event.map { [$0] } ?? []
  }

  /// Events of a list.
  public static func buildExpression(_ events: [any PublishableEvent]) -> Events { events }

  public static func buildBlock(_ parts: Events...) -> Events { parts.flatMap(\.self) }

  public static func buildOptional(_ part: Events?) -> Events { part ?? [] }

  public static func buildEither(first part: Events) -> Events { part }

  public static func buildEither(second part: Events) -> Events { part }

  public static func buildArray(_ parts: [Events]) -> Events { parts.flatMap(\.self) }

  public static func buildLimitedAvailability(_ part: Events) -> Events { part }
}
