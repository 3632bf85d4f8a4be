internal import Primitives

#if canImport(Glibc)
  internal import Glibc
#else
  internal import Darwin
#endif

/// The sanitizer that this program, and so the one that integration tests start, was built with (Deploy/sanitize).
public enum Sanitizer: String, Sendable {
  case thread = "ThreadSanitizer"
  case address = "AddressSanitizer"

  public static let current: Sanitizer? =
    isLoaded("__tsan_init") ? .thread : isLoaded("__asan_init") ? .address : nil

  /// For tests of memory, where the bound is not kept: under a sanitizer, which keeps several bytes for each of the
  /// program's, true, and says so.
  public static func excusesMemory() -> Bool {
    guard let current else { return false }
    print("\(current.rawValue): what memory a program takes is not held to its bound")
    return true
  }

  /// `limit` in nanoseconds, or more of them where the code is instrumented and so many times slower.
  public static func patience(_ limit: Duration) -> Int64 {
    limit.nanoseconds * (current == nil ? 1 : 8)
  }

  private static func isLoaded(_ symbol: String) -> Bool {
    #if canImport(Glibc)
      // RTLD_DEFAULT, which is not imported.
      unsafe dlsym(nil, symbol) != nil
    #else
      unsafe dlsym(UnsafeMutableRawPointer(bitPattern: -2), symbol) != nil
    #endif
  }
}
