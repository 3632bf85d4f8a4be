#if canImport(Glibc)
  internal import Glibc
#else
  internal import Darwin
#endif

/// The environment of this process.
public enum ProcessEnvironment {
  /// A copy. Call it once at the start and hand it down: nothing here changes the environment.
  public static func current() -> [String: String] {
    var variables: [String: String] = [:]
    var next = unsafe environ
    while let entry = unsafe next.pointee {
      let text = unsafe String(cString: entry)
      if let equals = text.firstIndex(of: "=") {
        variables[String(text[..<equals])] = String(text[text.index(after: equals)...])
      }
      unsafe next += 1
    }
    return variables
  }
}
