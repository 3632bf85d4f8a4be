// In the catalogue: for each person in a part, the upper 64 bits of the keyed hash of the id, big
// endian, 8 bytes each, rising, none twice.
public import Hashing
internal import Primitives

/// Whom a part may hold: keyed hashes of every `userId` and `anonymousId` in it.
///
/// Eight bytes a person: one that is not in the part is taken for one of 100,000 that are once in 10^14
/// times, and then costs reading the part.
public struct PeopleIndex: Hashable, Sendable {
  /// Rising, none twice.
  public private(set) var hashes: [UInt64]

  /// - Parameter hashes: in any order, as often as they come.
  public init(_ hashes: [UInt64] = []) {
    var sorted = hashes.sorted()
    var kept = 0
    for hash in sorted where kept == 0 || sorted[kept - 1] != hash {
      sorted[kept] = hash
      kept += 1
    }
    sorted.removeSubrange(kept...)
    self.hashes = sorted
  }

  public var count: Int { hashes.count }

  public func contains(_ person: Hash128) -> Bool {
    var low = 0
    var high = hashes.count
    while low < high {
      let middle = (low + high) / 2
      if hashes[middle] < person.high { low = middle + 1 } else { high = middle }
    }
    return low < hashes.count && hashes[low] == person.high
  }

  var encoded: [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(hashes.count * 8)
    for hash in hashes { bytes.appendBigEndian(hash) }
    return bytes
  }

  /// Bytes beyond a multiple of eight are no entry.
  init(decoding bytes: [UInt8]) {
    let span = unsafe bytes.span.bytes
    self.init((0..<bytes.count / 8).map { span.bigEndian(at: $0 * 8) })
  }
}
