extension BinaryInteger {
  /// The number with what it counts: `1 event`, `2 events`.
  ///
  /// - Parameter many: where it is not the word with an s, or where a verb goes with it: `event was lost`,
  ///   `events were lost`.
  @inlinable
  public func counted(_ one: String, _ many: String? = nil) -> String {
    "\(self) \(self == 1 ? one : many ?? one + "s")"
  }
}
