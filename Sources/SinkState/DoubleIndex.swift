// Open addressing over 32-bit entries, a power of two of them, at most half full:
//
//   upper bits   low bits of the entry's home, which is low bits of its hash: how far the entry stands
//                from home follows from them, so that a removal needs no look at the hashes
//   lower bits   its slot in the ring; all ones, which no slot has, in an empty entry
//
// Beside each entry stands a tag of 8 bits of the hash that are not of its home, 0 where it is empty. Most
// hashes are new, and for these a look at the tags says so: they take a quarter of the entries' memory, and
// of two hashes of one home 1 in 255 has to be compared in the ring.
internal import Hashing
internal import Primitives

/// Finds the ring's slot of a hash.
///
/// A lookup costs one miss of the cache; of 4,000,000 entries it takes 40 MiB.
struct DoubleIndex: Sendable {
  private static let empty = UInt32.max
  private var entries: [UInt32]
  private var tags: [UInt8]
  private let slotBits: UInt32
  private let slotMask: UInt32
  private(set) var count = 0

  /// - Parameter slots: how many slots there are; below 2^24.
  init(slots: Int) {
    precondition((1..<1 << 24).contains(slots), "\(slots) slots")
    slotBits = UInt32(Int.bitWidth - slots.leadingZeroBitCount)
    slotMask = (1 << slotBits) - 1
    entries = [UInt32](repeating: Self.empty, count: 16)
    tags = [UInt8](repeating: 0, count: 16)
  }

  var bytes: Int { entries.count * 5 }

  private var mask: Int { entries.count - 1 }

  /// What of a home an entry keeps.
  @inline(__always) private var homeMask: Int { min(mask, Int(UInt32.max >> slotBits)) }

  @inline(__always)
  private func home(_ hash: Hash128) -> Int { Int(truncatingIfNeeded: hash.low) & mask }

  @inline(__always)
  private func entry(home: Int, slot: UInt32) -> UInt32 {
    UInt32(truncatingIfNeeded: home & homeMask) << slotBits | slot
  }

  @inline(__always)
  private func tag(_ hash: Hash128) -> UInt8 {
    max(1, UInt8(truncatingIfNeeded: hash.low >> 56))
  }

  /// This hash will be looked for, put in or taken out.
  @inline(__always)
  func prefetch(_ hash: Hash128) {
    Prefetch.element(home(hash), of: tags)
    Prefetch.element(home(hash), of: entries)
  }

  /// How far the entry that stands at `place` is from its home.
  @inline(__always)
  private func distance(_ entry: UInt32, at place: Int) -> Int {
    (place &- Int(entry >> slotBits)) & homeMask
  }

  /// The first slot for which `isIt` holds, of those whose hash may be this one.
  @inline(__always)
  func find(_ hash: Hash128, _ isIt: (UInt32) -> Bool) -> UInt32? {
    let tag = tag(hash)
    var place = home(hash)
    while tags[place] != 0 {
      if tags[place] == tag, isIt(entries[place] & slotMask) { return entries[place] & slotMask }
      place = (place + 1) & mask
    }
    return nil
  }

  /// Whether more room could help: hashes are spread, and what is not spread in so much room is none.
  var canGrow: Bool { entries.count <= max(256, 16 * count) }

  /// - Returns: false when it has to grow first.
  mutating func insert(_ hash: Hash128, slot: UInt32) -> Bool {
    guard (count + 1) * 2 <= entries.count else { return false }
    let home = home(hash)
    var place = home
    while tags[place] != 0 { place = (place + 1) & mask }
    // The distance must fit in its bits: it does unless the hash is no hash.
    guard (place - home) & mask <= homeMask else { return false }
    entries[place] = entry(home: home, slot: slot)
    tags[place] = tag(hash)
    count += 1
    return true
  }

  /// Takes out an entry that is there.
  mutating func remove(_ hash: Hash128, slot: UInt32) {
    let home = home(hash)
    let wanted = entry(home: home, slot: slot)
    var hole = home
    while entries[hole] != wanted {
      precondition(entries[hole] != Self.empty, "slot \(slot) is not in the index")
      hole = (hole + 1) & mask
    }
    count -= 1
    var next = (hole + 1) & mask
    // What stands behind the hole and may stand in it moves there, so that no search ends too early.
    while entries[next] != Self.empty {
      if distance(entries[next], at: next) >= (next - hole) & mask {
        entries[hole] = entries[next]
        tags[hole] = tags[next]
        hole = next
      }
      next = (next + 1) & mask
    }
    entries[hole] = Self.empty
    tags[hole] = 0
  }

  /// Twice the size and empty: to be filled again.
  mutating func grow() {
    entries = [UInt32](repeating: Self.empty, count: entries.count * 2)
    tags = [UInt8](repeating: 0, count: entries.count)
    count = 0
  }
}
