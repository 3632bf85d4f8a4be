#if canImport(Glibc)
  internal import Glibc
#else
  internal import Darwin
#endif

/// A failed call of the operating system: which call, on what, and why.
public struct SystemError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The name of the call, as in `fdatasync`.
  public var call: String
  public var code: Int32
  /// The file or address concerned; empty when there is none.
  public var subject: String

  public init(call: String, code: Int32, subject: String = "") {
    self.call = call
    self.code = code
    self.subject = subject
  }

  /// The error of the call that just failed. Must be the first thing after it, since `errno` is kept
  /// by thread and overwritten by the next failure.
  public static func last(_ call: String, _ subject: String = "") -> SystemError {
    SystemError(call: call, code: errno, subject: subject)
  }

  public var isDiskFull: Bool { code == ENOSPC || code == EDQUOT }
  /// The file system takes no writes any more, as after a fault of its disk, until somebody mends it.
  public var isReadOnly: Bool { code == EROFS }

  public var description: String {
    let reason = unsafe String(cString: strerror(code))
    return subject.isEmpty ? "\(call): \(reason)" : "\(call) \(subject): \(reason)"
  }

  /// Calls `body` until it is not interrupted by a signal; throws when it returns a negative number.
  @discardableResult
  public static func check<T: SignedInteger>(
    _ call: String, _ subject: @autoclosure () -> String = "", _ body: () -> T
  ) throws(SystemError) -> T {
    while true {
      let result = body()
      if result >= 0 { return result }
      let code = errno
      if code != EINTR { throw SystemError(call: call, code: code, subject: subject()) }
    }
  }
}
