internal import Primitives

/// What reports look at of an event, numbered: each is found once an event, however many reports want it.
struct SourceTable: Sendable {
  /// Where a value comes from. Numbers alone: copied for each event, it costs no count of references.
  enum Source: Sendable, Hashable, BitwiseCopyable {
    case event
    case user
    case field(Int)
    /// A number as the label of its bucket.
    case bucket(Int, rule: Int)
  }

  /// A rule, and its labels as keys of groups.
  struct Bucket: Sendable {
    var rule: BucketRule
    var keys: [[UInt8]]
  }

  private(set) var fields = FieldTable()
  private(set) var buckets: [Bucket] = []
  /// Of which values hashes are wanted, for distinct sets.
  private(set) var hashed: [Source] = []
  /// By which values, one after another, groups are told apart.
  private(set) var breakdowns: [[Source]] = []

  mutating func field(at path: [[UInt8]]) -> Int { fields.number(of: path) }

  mutating func number(of rule: BucketRule) -> Int {
    if let known = buckets.firstIndex(where: { $0.rule == rule }) { return known }
    let keys = rule.labels.map { ValueKey.text(Array($0.utf8)) }
    buckets.append(Bucket(rule: rule, keys: keys))
    return buckets.count - 1
  }

  mutating func number(ofHash source: Source) -> Int { Self.number(of: source, in: &hashed) }
  mutating func number(of breakdown: [Source]) -> Int {
    Self.number(of: breakdown, in: &breakdowns)
  }

  private static func number<T: Equatable>(of value: T, in known: inout [T]) -> Int {
    if let found = known.firstIndex(of: value) { return found }
    known.append(value)
    return known.count - 1
  }
}
