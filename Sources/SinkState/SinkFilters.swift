public import BusProtocol
internal import EventModel

/// Which events a sink asks the broker for.
public enum SinkFilters {
  /// `filters` and `$forget`: a sink of some names only must erase a person all the same. No filter
  /// means everything, and has it already.
  public static func obeyingForget(_ filters: [NameFilter]) -> [NameFilter] {
    let forget = NameFilter(.exact, EventName.forget)
    return filters.isEmpty || filters.contains(forget) ? filters : filters + [forget]
  }
}
