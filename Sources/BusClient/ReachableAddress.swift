/// A broker that listens on all interfaces states addresses that name none: what it has behind one port is
/// reached the way that another was.
enum ReachableAddress {
  /// - Parameter known: an address by which the broker was reached.
  static func of(_ stated: String, through known: String) -> String {
    for host in ["tcp://0.0.0.0:", "tcp://[::]:", "tcp://*:"] where stated.hasPrefix(host) {
      guard known.hasPrefix("tcp://"), let colon = known.lastIndex(of: ":") else { return stated }
      return String(known[...colon]) + stated.dropFirst(host.count)
    }
    return stated
  }
}
