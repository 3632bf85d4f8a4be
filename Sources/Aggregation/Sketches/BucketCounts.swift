/// Counts by bucket number: open addressing in two arrays, at most half full, no allocation until the first
/// one comes. About 5 ns a count; a dictionary's keyed hash alone takes 20.
struct BucketCounts: Sendable {
  /// No bucket has this number.
  private static let free = Int32.min

  private var numbers: [Int32] = []
  private var counts: [UInt64] = []
  /// How many buckets have a count.
  private(set) var count = 0

  var byteCount: Int { numbers.count * 12 }

  mutating func add(_ bucket: Int32, _ more: UInt64) {
    if count * 2 >= numbers.count { grow() }
    let slot = slot(of: bucket)
    if numbers[slot] == Self.free {
      numbers[slot] = bucket
      count += 1
    }
    counts[slot] += more
  }

  /// In no particular order.
  func forEach(_ body: (Int32, UInt64) -> Void) {
    for (slot, bucket) in numbers.enumerated() where bucket != Self.free {
      body(bucket, counts[slot])
    }
  }

  /// The lowest bucket first.
  func sorted() -> [(bucket: Int32, count: UInt64)] {
    var all: [(bucket: Int32, count: UInt64)] = []
    all.reserveCapacity(count)
    forEach { all.append(($0, $1)) }
    return all.sorted { $0.bucket < $1.bucket }
  }

  @inline(__always)
  private func slot(of bucket: Int32) -> Int {
    let mask = numbers.count - 1
    // Neighbours are common, and the product's upper half spreads them.
    let hash = UInt64(UInt32(bitPattern: bucket)) &* 0x9E37_79B9_7F4A_7C15 >> 32
    var slot = Int(truncatingIfNeeded: hash) & mask
    while numbers[slot] != bucket, numbers[slot] != Self.free { slot = (slot + 1) & mask }
    return slot
  }

  private mutating func grow() {
    let old = (numbers, counts)
    numbers = Array(repeating: Self.free, count: max(16, old.0.count * 2))
    counts = Array(repeating: 0, count: numbers.count)
    for (index, bucket) in old.0.enumerated() where bucket != Self.free {
      let slot = slot(of: bucket)
      numbers[slot] = bucket
      counts[slot] = old.1[index]
    }
  }
}

extension BucketCounts: Equatable {
  static func == (a: BucketCounts, b: BucketCounts) -> Bool {
    a.sorted().elementsEqual(b.sorted()) { $0 == $1 }
  }
}
