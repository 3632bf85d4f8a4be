internal import Primitives

#if canImport(Glibc)
  internal import Glibc
#else
  internal import Darwin
#endif

/// A kept connection that sends one request again and again and waits for each answer; never blocks.
final class LoadConnection {
  let descriptor: Int32
  private let request: [UInt8]
  private var sent = 0
  private var received = 0
  /// Of the answer under way, head included; 0 until its head is there.
  private var expected = 0
  private var head: [UInt8] = []
  /// When the present request should have been sent; nil while there is none.
  private(set) var dueAt: Int64?
  private(set) var status = 0

  init(port: UInt16, request: [UInt8]) throws {
    self.request = request
    descriptor = try SystemError.check("socket") {
      socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
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
    try SystemError.check("fcntl") { fcntl(descriptor, F_SETFL, O_NONBLOCK) }
  }

  deinit { close(descriptor) }

  var isIdle: Bool { dueAt == nil }
  /// What to wait for.
  var events: Int16 { Int16(sent < request.count && dueAt != nil ? POLLIN | POLLOUT : POLLIN) }

  func begin(due: Int64) throws {
    dueAt = due
    sent = 0
    received = 0
    expected = 0
    head.removeAll(keepingCapacity: true)
    try send()
  }

  /// Moves on; true when the answer is whole.
  func advance(_ buffer: inout [UInt8]) throws -> Bool {
    if sent < request.count { try send() }
    while true {
      let count = unsafe recv(descriptor, &buffer, buffer.count, 0)
      if count < 0, errno == EAGAIN || errno == EINTR { return false }
      guard count > 0 else { throw BenchmarkError(text: "the collector closed a connection") }
      received += count
      if expected == 0 { readHead(buffer.prefix(count)) }
      if expected > 0, received >= expected {
        dueAt = nil
        return true
      }
    }
  }

  private func send() throws {
    let rest = request.count - sent
    let count = unsafe request.withUnsafeBytes { bytes in
      unsafe Glibc.send(
        descriptor, bytes.baseAddress.unsafelyUnwrapped + sent, rest, Int32(MSG_NOSIGNAL))
    }
    if count < 0, errno == EAGAIN || errno == EINTR { return }
    sent += try SystemError.check("send") { count }
  }

  private func readHead(_ piece: ArraySlice<UInt8>) {
    head += piece
    let text = String(decoding: head.prefix(1000), as: UTF8.self)
    let parts = text.components(separatedBy: "\r\n\r\n")
    guard parts.count > 1 else { return }
    status = Int(text.dropFirst(9).prefix(3)) ?? 0
    for line in parts[0].components(separatedBy: "\r\n")
    where line.lowercased().hasPrefix("content-length: ") {
      expected = parts[0].utf8.count + 4 + (Int(line.dropFirst(16)) ?? 0)
    }
  }
}

extension String {
  /// Its parts between `separator`, as Foundation has it.
  fileprivate func components(separatedBy separator: String) -> [String] {
    var parts: [String] = []
    var rest = self[...]
    while let range = rest.firstRange(of: separator) {
      parts.append(String(rest[..<range.lowerBound]))
      rest = rest[range.upperBound...]
    }
    return parts + [String(rest)]
  }
}
