internal import Synchronization

/// How much of some files is read, told to whoever shows it; by any number of threads.
final class ByteProgress: Sendable {
  private let total: UInt64
  private let done = Atomic<UInt64>(0)
  private let tell: @Sendable (_ bytes: UInt64, _ total: UInt64) -> Void

  init(of total: UInt64, _ tell: @escaping @Sendable (_ bytes: UInt64, _ total: UInt64) -> Void) {
    self.total = total
    self.tell = tell
  }

  /// Files that took the place of others meanwhile may have more bytes than was reckoned.
  func add(_ bytes: Int) {
    let sum = done.wrappingAdd(UInt64(bytes), ordering: .relaxed).newValue
    tell(sum, max(sum, total))
  }
}
