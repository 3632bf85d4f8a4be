#if canImport(Glibc)
  internal import Glibc
#else
  internal import Darwin
#endif

/// Which hosts only this machine can reach.
public enum Loopback {
  /// By the text alone: `localhost`, `::1` and 127.x.y.z. Not every name that begins so is an address.
  public static func contains(_ host: String) -> Bool {
    if host == "localhost" || host == "::1" { return true }
    var address = in_addr()
    // C would read a text only up to its first NUL.
    guard !host.utf8.contains(0), unsafe inet_pton(AF_INET, host, &address) == 1 else {
      return false
    }
    return UInt32(bigEndian: address.s_addr) >> 24 == 127
  }
}
