internal import CPlatform

/// Files that a service can open although connections have taken all others.
public enum FileReserve {
  /// Raises the limit of open files as far as the system allows, but for the reserve.
  public static func keep() { _ = eb_raise_open_files() }

  /// open(2). -1 and `errno` where even the reserve is used up.
  public static func open(_ path: String, _ flags: Int32, _ mode: Int32) -> Int32 {
    unsafe eb_open(path, flags, mode)
  }

  /// Files that this process has open, and how many it may have; nil where the system does not tell.
  /// About a microsecond a file.
  public static func used() -> (open: Int, limit: Int)? {
    var limit: UInt64 = 0
    let open = unsafe eb_open_files(&limit)
    return open < 0 ? nil : (Int(open), Int(clamping: limit))
  }
}
