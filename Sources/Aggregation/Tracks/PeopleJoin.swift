/// Which ids belong to one person, as identify and alias said.
///
/// An identify joins its anonymousId to its userId, an alias its previousId to its userId. An id is
/// joined once: a device on which a second user signs in later stays with the first, so two users are
/// never made one by a device they shared (an alias of one user's id to another's does join them). Ids
/// are keyed hashes.
///
/// Bounded: at 1,000,000 joins further ones are left out and counted.
struct PeopleJoin: Sendable {
  static let limit = 1_000_000
  /// The ids that one group of a report keeps for `people`, which needs each: beyond it the number is an
  /// estimate of ids, and says so.
  static let exactLimit = 200_000

  struct Join: Sendable, Equatable {
    var id: UInt64
    var person: UInt64
  }

  private var persons: [UInt64: UInt64] = [:]
  /// Joins that are not stored yet.
  private(set) var new: [Join] = []
  private(set) var leftOut: UInt64 = 0

  var count: Int { persons.count }

  /// The id that stands for the whole person.
  func person(of id: UInt64) -> UInt64 {
    var at = id
    // No ring can come about: a join gives a parent only to one that has none, and never itself.
    while let next = persons[at] { at = next }
    return at
  }

  mutating func join(_ id: UInt64, to user: UInt64) {
    let person = person(of: user)
    guard persons[id] == nil, person != id else { return }
    guard persons.count < Self.limit else {
      leftOut += 1
      return
    }
    persons[id] = person
    new.append(Join(id: id, person: person))
  }

  /// - Returns: false for one that makes a ring, as only damage does.
  mutating func restore(_ join: Join) -> Bool {
    guard person(of: join.person) != join.id else { return false }
    persons[join.id] = join.person
    return true
  }

  /// Forgets an id, and what was joined to it. Goes through all joins.
  mutating func erase(_ id: UInt64) {
    persons = persons.filter { $0.key != id && $0.value != id }
    new.removeAll { $0.id == id || $0.person == id }
  }

  mutating func markSaved() { new.removeAll() }
}
