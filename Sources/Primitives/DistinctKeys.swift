/// Finds a key that stands twice among the keys of one map, whatever the format.
public enum DistinctKeys {
  /// The place of a key whose bytes an earlier or later one of `keys` has too; nil when all differ.
  ///
  /// Pair by pair while they are few, which allocates nothing; else by their checksums, and where two of
  /// these are the same, by the sorted keys, so that no choice of keys makes it slow. `keys` are places
  /// in `bytes`.
  public static func repeated(
    _ keys: ArraySlice<Range<Int>>, in bytes: RawSpan
  ) -> Range<Int>? {
    guard keys.count > 12 else { return repeatedInPairs(keys, in: bytes) }
    guard hasEqualChecksums(keys, in: bytes) else { return nil }
    return unsafe bytes.withUnsafeBytes { bytes in
      let sorted = keys.sorted {
        unsafe bytes[$0].lexicographicallyPrecedes(bytes[$1])
      }
      for (key, next) in zip(sorted, sorted.dropFirst()) {
        if unsafe bytes[key].elementsEqual(bytes[next]) { return next }
      }
      return nil
    }
  }

  /// Numbers sort ten times faster than keys, which often begin alike.
  private static func hasEqualChecksums(_ keys: ArraySlice<Range<Int>>, in bytes: RawSpan) -> Bool {
    var checksums: [UInt32] = []
    checksums.reserveCapacity(keys.count)
    for key in keys { checksums.append(CRC32C.checksum(bytes.extracting(key))) }
    checksums.sort()
    for index in 1..<checksums.count where checksums[index - 1] == checksums[index] { return true }
    return false
  }

  private static func repeatedInPairs(
    _ keys: ArraySlice<Range<Int>>, in bytes: RawSpan
  ) -> Range<Int>? {
    var index = keys.startIndex
    while index < keys.endIndex {
      let key = keys[index]
      var other = keys.startIndex
      while other < index {
        let earlier = keys[other]
        if earlier.count == key.count,
          bytes.extracting(earlier).isEqual(to: bytes.extracting(key))
        {
          return key
        }
        other += 1
      }
      index += 1
    }
    return nil
  }
}
