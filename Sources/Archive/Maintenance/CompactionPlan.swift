/// Which parts become one: neighbours of one hour of arrival, as many as fit the size. Parts with offsets
/// between them that nobody decided, since a cursor was moved over them, stay two: those offsets may come.
enum CompactionPlan {
  /// - Parameters:
  ///   - parts: all of the archive, in the order of positions.
  ///   - openFolder: the folder of the present hour, which may still grow; later ones count as open too.
  ///   - bytes: what a part should have; one with three quarters of it is large enough. Its lines are
  ///     1 GiB at most, as the archiver has it.
  /// - Returns: groups of two parts and more.
  static func groups(_ parts: [Part], openFolder: String, bytes: UInt64) -> [[Part]] {
    var groups: [[Part]] = []
    var group: [Part] = []
    var sum: UInt64 = 0
    var rawSum: UInt64 = 0
    func folder(_ part: Part) -> Substring {
      part.path[..<(part.path.lastIndex(of: "/") ?? part.path.startIndex)]
    }
    func close() {
      if group.count > 1 { groups.append(group) }
      group = []
      sum = 0
      rawSum = 0
    }
    for part in parts {
      guard folder(part) < openFolder, part.bytes < bytes / 4 * 3 else {
        close()
        continue
      }
      if let last = group.last,
        last.epoch != part.epoch || folder(last) != folder(part)
          || last.covered.upperBound &+ 1 < part.covered.lowerBound || sum + part.bytes > bytes
          || rawSum + part.rawBytes > 1 << 30
      {
        close()
      }
      group.append(part)
      sum += part.bytes
      rawSum += part.rawBytes
    }
    close()
    return groups
  }
}
