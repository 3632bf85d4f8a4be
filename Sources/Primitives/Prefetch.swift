internal import CPlatform

/// Memory that will be needed soon.
public enum Prefetch {
  /// Begins to bring the cache line of an element near, so that a look at it some 100 ns later need not
  /// wait for it. For tables far larger than the cache, looked into at random.
  @inline(__always)
  public static func element(_ index: Int, of array: [UInt8]) {
    unsafe array.withUnsafeBufferPointer {
      unsafe eb_prefetch($0.baseAddress.map { unsafe $0 + index })
    }
  }

  @inline(__always)
  public static func element(_ index: Int, of array: [UInt32]) {
    unsafe array.withUnsafeBufferPointer {
      unsafe eb_prefetch($0.baseAddress.map { unsafe $0 + index })
    }
  }

  @inline(__always)
  public static func element(_ index: Int, of array: [UInt64]) {
    unsafe array.withUnsafeBufferPointer {
      unsafe eb_prefetch($0.baseAddress.map { unsafe $0 + index })
    }
  }
}
