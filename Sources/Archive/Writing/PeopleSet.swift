internal import Hashing
internal import Primitives

/// The persons of a part that is being written, each once: the upper halves of their hashes.
///
/// Open addressing, at most half full; 16 bytes a person. The table is far larger than the cache, so
/// persons wait in a small buffer while their places are brought near; about 10 ns an insert.
struct PeopleSet: Sendable {
  private static let waitingLimit = 32

  private var slots = [UInt64](repeating: 0, count: 64)
  /// Without the last few, which wait.
  private(set) var count = 0
  private var waiting: [UInt64] = []
  /// 0 stands for an empty slot, so the hash 0 is kept here.
  private var hasZero = false

  mutating func insert(_ person: Hash128) {
    let hash = person.high
    guard hash != 0 else { return hasZero = true }
    Prefetch.element(home(hash), of: slots)
    waiting.append(hash)
    if waiting.count == Self.waitingLimit { takeIn() }
  }

  private mutating func takeIn() {
    for hash in waiting { add(hash) }
    waiting.removeAll(keepingCapacity: true)
  }

  @inline(__always)
  private func home(_ hash: UInt64) -> Int { Int(truncatingIfNeeded: hash) & (slots.count - 1) }

  private mutating func add(_ hash: UInt64) {
    var slot = home(hash)
    while slots[slot] != 0 {
      if slots[slot] == hash { return }
      slot = (slot + 1) & (slots.count - 1)
    }
    slots[slot] = hash
    count += 1
    if count * 2 > slots.count { grow() }
  }

  private mutating func grow() {
    let old = slots
    slots = [UInt64](repeating: 0, count: old.count * 2)
    for hash in old where hash != 0 {
      var slot = home(hash)
      while slots[slot] != 0 { slot = (slot + 1) & (slots.count - 1) }
      slots[slot] = hash
    }
  }

  var index: PeopleIndex {
    var whole = self
    whole.takeIn()
    return PeopleIndex(whole.slots.filter { $0 != 0 } + (hasZero ? [0] : []))
  }
}
