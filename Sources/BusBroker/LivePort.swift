internal import CPlatform

#if canImport(Glibc)
  internal import Glibc
#else
  internal import Darwin
#endif

/// The TCP connections of a port that libzmq has bound in this process. libzmq tells nothing about them to
/// anybody but the thread that owns the socket, so they are found among the process's open files: some
/// microseconds each. On systems other than Linux there are none.
struct LivePort {
  let number: UInt16

  /// - Parameter address: where the socket is bound, as `tcp://127.0.0.1:7401`.
  init(_ address: String) {
    number = address.split(separator: ":").last.flatMap { UInt16($0) } ?? 0
  }

  /// Bytes that came in by each open connection, by descriptor.
  func received() -> [Int32: UInt64] {
    var counts: [Int32: UInt64] = [:]
    forEachFile { descriptor in
      let bytes = eb_received_bytes(descriptor, number)
      if bytes != .max { counts[descriptor] = bytes }
    }
    return counts
  }

  /// Without what came in and is not read yet; false when there is no such connection any more.
  func end(_ descriptor: Int32) -> Bool {
    // Nobody else's: a descriptor that was closed meanwhile has no such port.
    guard eb_received_bytes(descriptor, number) != .max else { return false }
    eb_abort_connection(descriptor)
    return true
  }

  /// Whoever connects while none are taken waits, and is taken later.
  func takeConnections(_ takes: Bool) {
    forEachFile { _ = eb_pause_listener($0, number, takes ? 0 : 1) }
  }

  private func forEachFile(_ body: (Int32) -> Void) {
    guard let directory = unsafe opendir("/proc/self/fd") else { return }
    defer { unsafe closedir(directory) }
    while let entry = unsafe readdir(directory) {
      let descriptor = unsafe withUnsafeBytes(of: entry.pointee.d_name) { name in
        unsafe Int32(String(decoding: name.prefix { $0 != 0 }, as: UTF8.self))
      }
      if let descriptor { body(descriptor) }
    }
  }
}
