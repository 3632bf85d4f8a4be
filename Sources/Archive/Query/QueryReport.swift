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
    damages += other.damages.prefix(Self.maximumDamages - damages.count)
  }
}
