#if canImport(Glibc)
  internal import Glibc
#else
  internal import Darwin
#endif

/// Which connection a subscription came by. libzmq tells the file descriptor alone, and descriptors are
/// used again: so who is at the other end counts too, and each connection has a number of its own.
struct LiveConnections {
  private struct Connection {
    var number: UInt32
    var peer: [UInt8]
  }

  /// By descriptor, so bounded by the limit of open files.
  private var open: [Int32: Connection] = [:]
  private var ended: Set<UInt32> = []
  private var next: UInt32 = 1

  /// The number of the connection that has this descriptor now; nil when it has none any more.
  mutating func number(of descriptor: Int32) -> UInt32? {
    let peer = Self.peer(descriptor)
    guard !peer.isEmpty else { return nil }
    if let known = open[descriptor] {
      if known.peer == peer { return known.number }
      ended.insert(known.number)
    }
    defer { next &+= 1 }
    open[descriptor] = Connection(number: next, peer: peer)
    return next
  }

  /// Where the connection with this number is, as long as it is there.
  func descriptor(of number: UInt32) -> Int32? {
    open.first { $0.value.number == number && Self.peer($0.key) == $0.value.peer }?.key
  }

  /// Those that have ended since this was asked last. One system call a connection.
  mutating func takeEnded() -> Set<UInt32> {
    for (descriptor, connection) in open
    where Self.peer(descriptor) != connection.peer {
      ended.insert(connection.number)
      open[descriptor] = nil
    }
    defer { ended = [] }
    return ended
  }

  /// Empty for what is no connection, any more.
  static func peer(_ descriptor: Int32) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: 128)
    var size = socklen_t(bytes.count)
    let result = unsafe bytes.withUnsafeMutableBytes { buffer in
      unsafe getpeername(
        descriptor, buffer.baseAddress!.assumingMemoryBound(to: sockaddr.self), &size)
    }
    return result == 0 ? Array(bytes.prefix(Int(size))) : []
  }
}
