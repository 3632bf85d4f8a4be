internal import Compression
internal import Primitives
internal import Synchronization

/// One connection of a pretended server: requests in, answers out, one after another.
struct StubConnection {
  private let socket: StubSocket
  private let number: Int
  private let shared: StubServer.Shared
  private var buffer: [UInt8] = []
  private var at = 0
  private var piece = [UInt8](repeating: 0, count: 64 << 10)
  /// A fault of the tests themselves would otherwise fill the memory.
  private static let mostBytes = 64 << 20

  init(_ socket: StubSocket, number: Int, shared: StubServer.Shared) {
    self.socket = socket
    self.number = number
    self.shared = shared
  }

  mutating func serve() {
    while let request = read() {
      guard deliver(shared.handler(request)) else { break }
    }
    // Only with the last reference is it closed; others learn now that nothing more comes.
    if !isReset { socket.shutDown() }
  }

  private var isReset = false

  private mutating func deliver(_ answer: StubAnswer) -> Bool {
    let bytes = answer.bytes
    switch answer.delivery {
    case .whole: return socket.send(bytes[...])
    case .thenClose: _ = socket.send(bytes[...])
    case .close: break
    case .half: _ = socket.send(bytes.prefix(bytes.count - (answer.body.count + 1) / 2))
    case .hang(let milliseconds):
      return socket.pause(milliseconds: milliseconds) && socket.send(bytes[...])
    case .slow(let milliseconds):
      for index in bytes.indices {
        guard socket.pause(milliseconds: max(1, milliseconds / bytes.count)),
          socket.send(bytes[index...index])
        else { return false }
      }
      return true
    case .reset, .resetMid:
      if answer.delivery == .resetMid {
        _ = socket.send(bytes.prefix(25))
        // So that the client reads the beginning before the reset throws it away.
        _ = socket.pause(milliseconds: 50)
      }
      socket.resetOnClose()
      isReset = true
    }
    return false
  }

  private mutating func read() -> StubRequest? {
    buffer.removeSubrange(..<at)
    at = 0
    guard let first = line() else { return nil }
    let words = first.split(separator: " ")
    guard words.count == 3 else { return nil }
    var headers: [String: String] = [:]
    while let text = line(), !text.isEmpty {
      guard let colon = text.firstIndex(of: ":") else { return nil }
      headers[text[..<colon].lowercased()] = String(
        text[text.index(after: colon)...].drop { $0 == " " })
    }
    let target = words[1].split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
    if let interruption = shared.interrupter(String(target[0])) {
      interrupt(interruption, headers)
      return nil
    }
    guard let wire = body(headers) else { return nil }
    let count = shared.state.withLock { state in
      state.requests += 1
      return state.requests
    }
    return StubRequest(
      number: count, time: SystemClock.monotonic(), connection: number, method: String(words[0]),
      path: String(target[0]),
      query: target.count > 1 ? String(target[1]) : "", headers: headers, wireBody: wire,
      body: headers["content-encoding"] == "gzip" ? Self.unpacked(wire) : wire)
  }

  private mutating func interrupt(
    _ interruption: StubServer.Interruption, _ headers: [String: String]
  ) {
    _ = take((Int(headers["content-length"] ?? "0") ?? 0) / 2)
    guard interruption == .reset else { return }
    socket.resetOnClose()
    isReset = true
  }

  private mutating func body(_ headers: [String: String]) -> [UInt8]? {
    guard headers["transfer-encoding"] == "chunked" else {
      return take(Int(headers["content-length"] ?? "0") ?? 0)
    }
    var bytes: [UInt8] = []
    while let size = line().flatMap({ Int($0, radix: 16) }), let chunk = take(size),
      line() != nil
    {
      if size == 0 { return bytes }
      bytes += chunk
    }
    return nil
  }

  /// What cannot be unpacked stays as it is.
  private static func unpacked(_ wire: [UInt8]) -> [UInt8] {
    var body: [UInt8] = []
    do throws(CompressionError) {
      var stream = try GunzipStream()
      try unsafe stream.read(wire.span.bytes, into: &body, limit: mostBytes)
      try stream.finish()
      return body
    } catch { return wire }
  }

  /// Up to the next line end, without it.
  private mutating func line() -> String? {
    var from = at
    while true {
      if let end = buffer[from...].firstIndex(of: 10) {
        let text = buffer[at..<end]
        at = end + 1
        return String(decoding: text.last == 13 ? text.dropLast() : text, as: UTF8.self)
      }
      from = buffer.count
      guard fill() else { return nil }
    }
  }

  private mutating func take(_ count: Int) -> [UInt8]? {
    while buffer.count - at < count { guard fill() else { return nil } }
    defer { at += count }
    return Array(buffer[at..<at + count])
  }

  private mutating func fill() -> Bool {
    guard buffer.count < Self.mostBytes else { return false }
    let count = socket.receive(into: &piece)
    buffer += piece.prefix(count)
    return count > 0
  }
}
