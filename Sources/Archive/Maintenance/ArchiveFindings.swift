/// What `archive verify` found.
public struct ArchiveFindings: Sendable {
  public internal(set) var parts = 0
  public internal(set) var events: UInt64 = 0
  public internal(set) var bytes: UInt64 = 0
  /// Damaged places: all are counted, and the first thousand kept.
  public internal(set) var damageCount = 0
  public internal(set) var damages: [PartDamage] = []
  /// Files below the directory that the catalogue does not know, from there: what a killed archiver or a
  /// compaction left, which the next start of the archiver removes, and what others have put there.
  public internal(set) var strayFiles: [String] = []

  static let maximumDamages = 1000

  public init() {}

  mutating func add(_ damage: PartDamage) {
    damageCount += 1
    if damages.count < Self.maximumDamages { damages.append(damage) }
  }
}
