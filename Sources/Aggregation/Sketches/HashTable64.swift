internal import Primitives

/// A set of 64-bit hashes: open addressing in one array, no allocation until the first one comes.
///
/// The values are hashes already, so their low bits choose the slot. Zero marks a free slot; the hash 0
/// counts as 1, which costs one value of 2^64.
struct HashTable64: Sendable, Equatable {
  private(set) var slots: [UInt64] = []
  private(set) var count = 0
  /// `slots.count - 1` at hand: to ask the array is one more look into memory far away.
  private var mask = -1

  /// What it holds in memory, a function of the count alone.
  var byteCount: Int { slots.count * 8 }

  /// False when it was there already.
  @inline(__always)
  mutating func insert(_ hash: UInt64) -> Bool {
    if count * 4 >= (mask + 1) * 3 { grow() }
    let value = max(hash, 1)
    var slot = Int(truncatingIfNeeded: value) & mask
    while slots[slot] != 0 {
      if slots[slot] == value { return false }
      slot = (slot + 1) & mask
    }
    slots[slot] = value
    count += 1
    return true
  }

  /// A look for this hash will follow.
  @inline(__always)
  func prefetch(_ hash: UInt64) {
    guard mask > 0 else { return }
    Prefetch.element(Int(truncatingIfNeeded: hash) & mask, of: slots)
    // Beside the array's first elements stands its own count, which each look reads.
    Prefetch.element(0, of: slots)
  }

  func contains(_ hash: UInt64) -> Bool {
    guard count > 0 else { return false }
    let value = max(hash, 1)
    var slot = Int(truncatingIfNeeded: value) & mask
    while slots[slot] != 0 {
      if slots[slot] == value { return true }
      slot = (slot + 1) & mask
    }
    return false
  }

  /// In no particular order.
  func forEach(_ body: (UInt64) -> Void) {
    for value in slots where value != 0 { body(value) }
  }

  /// Takes values out; where one is there, about as dear as building the set anew.
  mutating func remove(_ values: HashTable64) {
    var found = false
    values.forEach { found = found || contains($0) }
    guard found else { return }
    var left = HashTable64()
    forEach { if !values.contains($0) { _ = left.insert($0) } }
    self = left
  }

  private mutating func grow() {
    let old = slots
    slots = [UInt64](repeating: 0, count: max(4, old.count * 2))
    mask = slots.count - 1
    for value in old where value != 0 {
      var slot = Int(truncatingIfNeeded: value) & mask
      while slots[slot] != 0 { slot = (slot + 1) & mask }
      slots[slot] = value
    }
  }

  static func == (a: HashTable64, b: HashTable64) -> Bool {
    guard a.count == b.count else { return false }
    return a.slots.allSatisfy { $0 == 0 || b.contains($0) }
  }
}
