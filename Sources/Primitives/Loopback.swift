/// Which hosts only this machine can reach.
public enum Loopback {
  /// By the text alone: `localhost`, `::1` and 127.x.y.z. Not every name that begins so is an address.
  public static func contains(_ host: String) -> Bool {
    if host == "localhost" || host == "::1" { return true }
    let numbers = host.split(separator: ".", omittingEmptySubsequences: false)
    return numbers.count == 4 && numbers[0] == "127" && numbers.allSatisfy { UInt8($0) != nil }
  }
}
