internal import Hashing

/// The persons of a part that is being written, each once: the upper halves of their hashes.
///
/// Open addressing, at most half full; 16 bytes a person, about 5 ns an insert.
struct PeopleSet: Sendable {
  private var slots = [UInt64](repeating: 0, count: 64)
  private var count = 0
  /// 0 stands for an empty slot, so the hash 0 is kept here.
  private var hasZero = false

  mutating func insert(_ person: Hash128) {
    let hash = person.high
    guard hash != 0 else { return hasZero = true }
    let mask = slots.count - 1
    var slot = Int(truncatingIfNeeded: hash) & mask
    while slots[slot] != 0 {
      if slots[slot] == hash { return }
      slot = (slot + 1) & mask
    }
    slots[slot] = hash
    count += 1
    if count * 2 > slots.count { grow() }
  }

  private mutating func grow() {
    let old = slots
    slots = [UInt64](repeating: 0, count: old.count * 2)
    let mask = slots.count - 1
    for hash in old where hash != 0 {
      var slot = Int(truncatingIfNeeded: hash) & mask
      while slots[slot] != 0 { slot = (slot + 1) & mask }
      slots[slot] = hash
    }
  }

  var index: PeopleIndex { PeopleIndex(slots.filter { $0 != 0 } + (hasZero ? [0] : [])) }
}
