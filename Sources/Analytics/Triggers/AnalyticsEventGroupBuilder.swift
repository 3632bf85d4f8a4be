/// Builds a list of groups from statements, with the same control flow as ``AnalyticsEventBuilder``.
@resultBuilder
public enum AnalyticsEventGroupBuilder {
  /// What the statements of a block come to.
  public typealias Groups = [AnalyticsEventGroup]

  /// A group.
  public static func buildExpression(_ group: AnalyticsEventGroup) -> Groups { [group] }

  /// A group that may not be there; nil adds nothing.
  public static func buildExpression(_ group: AnalyticsEventGroup?) -> Groups {
    group.map { [$0] } ?? []
  }

  /// Groups of a list.
  public static func buildExpression(_ groups: [AnalyticsEventGroup]) -> Groups { groups }

  public static func buildBlock(_ parts: Groups...) -> Groups { parts.flatMap(\.self) }

  public static func buildOptional(_ part: Groups?) -> Groups { part ?? [] }

  public static func buildEither(first part: Groups) -> Groups { part }

  public static func buildEither(second part: Groups) -> Groups { part }

  public static func buildArray(_ parts: [Groups]) -> Groups { parts.flatMap(\.self) }

  public static func buildLimitedAvailability(_ part: Groups) -> Groups { part }
}
