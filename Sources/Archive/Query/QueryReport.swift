/// What a query did, and what it met.
public struct QueryReport: Sendable {
  /// Parts in the archive; those whose files were opened; and of the opened ones the events looked at.
  public internal(set) var parts = 0
  public internal(set) var partsOpened = 0
  public internal(set) var eventsRead: UInt64 = 0
  /// Events that matched, those included that the catalogue alone answered for.
  public internal(set) var eventsMatched: UInt64 = 0
  /// Damaged places: all are counted, and the first hundred kept.
  public internal(set) var damageCount = 0
  public internal(set) var damages: [PartDamage] = []

  /// The filter's conditions in their order.
  public internal(set) var clauses: [ClauseSight] = []

  /// Whether events had what a condition names. Of those that an earlier condition, name or time left out nothing
  /// is known, nor of what was not read.
  public struct ClauseSight: Hashable, Sendable {
    /// Events looked at until one had the path, or satisfied the condition without it.
    public internal(set) var events: UInt64 = 0
    public internal(set) var isSeen = false
  }

  static let maximumDamages = 100

  public init() {}

  mutating func add(_ damage: PartDamage) {
    damageCount += 1
    if damages.count < Self.maximumDamages { damages.append(damage) }
  }

  mutating func add(_ other: QueryReport) {
    partsOpened += other.partsOpened
    eventsRead += other.eventsRead
    eventsMatched += other.eventsMatched
    damageCount += other.damageCount
    if clauses.isEmpty { clauses = other.clauses.map { _ in ClauseSight() } }
    for (index, sight) in other.clauses.enumerated() {
      clauses[index].events += sight.events
      clauses[index].isSeen = clauses[index].isSeen || sight.isSeen
    }
    damages += other.damages.prefix(Self.maximumDamages - damages.count)
  }
}
