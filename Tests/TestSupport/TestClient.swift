internal import Primitives

#if canImport(Glibc)
  internal import Glibc
#else
  internal import Darwin
#endif

/// One TCP connection to 127.0.0.1 that sends what it is told, right or wrong. Reads give up after
/// ten seconds, so that a server that hangs fails its test.
public final class TestClient {
  private let descriptor: Int32
  private var buffered: [UInt8] = []

  public init(port: UInt16) throws {
    descriptor = try SystemError.check("socket") {
      socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    }
    var patience = timeval(tv_sec: 10, tv_usec: 0)
    try SystemError.check("setsockopt") { [descriptor] in
      unsafe setsockopt(
        descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
    }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr = in_addr(s_addr: UInt32(0x7F00_0001).bigEndian)
    try SystemError.check("connect") { [descriptor] in
      unsafe withUnsafePointer(to: &address) { pointer in
        unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
          unsafe connect(descriptor, generic, socklen_t(MemoryLayout<sockaddr_in>.size))
        }
      }
    }
  }

  deinit { close(descriptor) }

  public func send(_ text: String) throws { try send(Array(text.utf8)) }

  public func send(_ bytes: [UInt8]) throws {
    var sent = 0
    while sent < bytes.count {
      let rest = Array(bytes[sent...])
      sent += try SystemError.check("send") {
        unsafe sendto(descriptor, rest, rest.count, Int32(MSG_NOSIGNAL), nil, 0)
      }
    }
  }

  /// Says that nothing more will be sent, as a client does that closes its side.
  public func finishSending() { _ = shutdown(descriptor, Int32(SHUT_WR)) }

  /// Reads one answer; `head`: it has no body, whatever its length says.
  public func receive(head: Bool = false) throws -> TestAnswer {
    while true {
      if let (answer, used) = TestAnswer.parse(buffered, head: head) {
        buffered.removeFirst(used)
        return answer
      }
      guard try fill() else { throw ConnectionEnded(received: buffered) }
    }
  }

  /// Reads up to and with the text, whatever the bytes mean: for answers that go on.
  public func receive(until text: String) throws -> String {
    let marker = Array(text.utf8)
    var searched = 0
    while true {
      for end in (searched + marker.count)..<max(searched + marker.count, buffered.count + 1)
      where buffered[end - 1] == marker.last && buffered[..<end].suffix(marker.count) == marker[...]
      {
        defer { buffered.removeFirst(end) }
        return String(decoding: buffered[..<end], as: UTF8.self)
      }
      searched = max(0, buffered.count + 1 - marker.count)
      guard try fill() else { throw ConnectionEnded(received: buffered) }
    }
  }

  /// True when the server closes, or cuts, without sending anything more.
  public func isClosed() throws -> Bool {
    do {
      let more = try fill()
      return !more && buffered.isEmpty
    } catch let error as SystemError where error.code == ECONNRESET {
      return true
    }
  }

  /// Waits that long at most; true when the server has ended the connection.
  public func isClosed(withinMilliseconds limit: Int32) throws -> Bool {
    var item = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    return unsafe poll(&item, 1, limit) > 0 ? try isClosed() : false
  }

  private func fill() throws -> Bool {
    var piece = [UInt8](repeating: 0, count: 65536)
    let count = try SystemError.check("recv") { unsafe recv(descriptor, &piece, piece.count, 0) }
    buffered += piece.prefix(count)
    return count > 0
  }
}

public struct ConnectionEnded: Error {
  public var received: [UInt8]
}
