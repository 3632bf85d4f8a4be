internal import CMicroHTTPD
internal import Synchronization

/// One request on its way in and its answer on the way out. libmicrohttpd keeps it as the request's
/// context, and one of its threads at a time reads into it; the answer may come from any thread.
final class Exchange: @unchecked Sendable {
  // What has no lock is touched by the connection's thread only, before the handler gets the request.
  let method: String
  let path: String
  let descriptor: Int32
  /// The connection's address; it lives as long as the request.
  let connection: UInt
  private(set) var body: [UInt8] = []
  /// All bytes of the body that arrived, also those that were thrown away.
  private(set) var received = 0
  /// There was no room for it beside the other bodies.
  private(set) var isShed = false
  private let limit: Int
  private let state = Mutex(State.reading)
  /// The stream that it was answered with.
  private let streamed = Mutex<HTTPStream?>(nil)

  enum State {
    case reading
    /// The handler has it and has not answered.
    case handling
    /// As well, and the connection sleeps. An address, since pointers are not Sendable.
    case suspended(connection: UInt)
    case answered(Answer)
    case ended
  }

  /// What a handler made of the request.
  enum Answer {
    case whole(HTTPResponse)
    /// The head, and what sends the rest.
    case stream(HTTPResponse, HTTPStream)
  }

  init(
    method: String, path: String, limit: Int, descriptor: Int32, connection: UInt
  ) {
    self.method = method
    self.path = path
    self.limit = limit
    self.descriptor = descriptor
    self.connection = connection
  }

  var isTooLarge: Bool { received > limit }

  /// Takes a piece of the body. False: so far beyond the limit that the connection is to be cut.
  ///
  /// A body beyond the limit is read to its end and forgotten, since a refusal in the middle would be
  /// lost when the client only reads after sending. But nobody may send for ever: twice the limit, and
  /// at least 64 KiB, is the end of it.
  func take(_ piece: UnsafeRawBufferPointer, into room: BodyRoom) -> Bool {
    received += piece.count
    if isTooLarge {
      forget(room)
    } else if isShed || !room.take(piece.count) {
      isShed = true
      forget(room)
    } else {
      unsafe body.append(contentsOf: piece)
    }
    return received <= max(2 * limit, 65536)
  }

  private func forget(_ room: BodyRoom) {
    room.give(body.count)
    body = []
  }

  func request(on connection: OpaquePointer) -> HTTPRequest {
    HTTPRequest(
      method: method, path: path,
      query: unsafe Self.fields(of: connection, .GET_ARGUMENT_KIND),
      headers: unsafe Self.fields(of: connection, .HEADER_KIND), body: body)
  }

  /// The step that the connection's thread has to take.
  enum Step {
    case handle
    case send(Answer)
    case wait
  }

  func nextStep() -> Step {
    state.withLock { state in
      switch state {
      case .reading:
        state = .handling
        return .handle
      case .answered(let response):
        state = .ended
        return .send(response)
      case .handling, .suspended, .ended: return .wait
      }
    }
  }

  /// After the handler returned: its answer, or nil, and the connection sleeps until there is one.
  func answerOrSuspend(_ connection: OpaquePointer) -> Answer? {
    // Suspended under the lock: whoever answers wakes it afterwards or is found here.
    let address = UInt(bitPattern: connection)
    return state.withLock { state in
      if case .answered(let response) = state {
        state = .ended
        return response
      }
      guard let connection = unsafe OpaquePointer(bitPattern: address) else { return nil }
      state = .suspended(connection: address)
      unsafe MHD_suspend_connection(connection)
      return nil
    }
  }

  func answer(_ response: HTTPResponse) { _ = answer(.whole(response)) }

  /// False when it has an answer already, or its connection is gone.
  func answer(_ answer: Answer) -> Bool {
    // First, so that whoever ends the request from here on finds it.
    if case .stream(_, let stream) = answer { streamed.withLock { $0 = stream } }
    return state.withLock { state in
      switch state {
      case .handling: state = .answered(answer)
      case .suspended(let address):
        state = .answered(answer)
        if let connection = unsafe OpaquePointer(bitPattern: address) {
          unsafe MHD_resume_connection(connection)
        }
      case .reading, .answered, .ended: return false
      }
      return true
    }
  }

  /// The connection is done with it: answers from now on are for nobody. What it was answered with, if
  /// that was a stream.
  func end(_ room: BodyRoom) -> HTTPStream? {
    room.give(body.count)
    body = []
    state.withLock { $0 = .ended }
    return streamed.withLock { $0.take() }
  }

  static func fields(
    of connection: OpaquePointer, _ kind: MHD_ValueKind
  ) -> [HTTPRequest.Field] {
    var fields: [HTTPRequest.Field] = []
    unsafe withUnsafeMutablePointer(to: &fields) { pointer in
      _ = unsafe MHD_get_connection_values(connection, kind, collect, pointer)
    }
    // Blanks behind a header's value are none of it (RFC 9112, 5.1), and libmicrohttpd leaves them there.
    guard kind == .HEADER_KIND else { return fields }
    return fields.map { HTTPRequest.Field($0.name, withoutBlanksBehind($0.value)) }
  }
}

/// What all bodies together may still take.
final class BodyRoom: Sendable {
  private let left: Atomic<Int>

  init(bytes: Int) { left = Atomic(bytes) }

  /// False, and nothing taken, when there is no such room.
  func take(_ bytes: Int) -> Bool {
    let after = left.subtract(bytes, ordering: .relaxed).newValue
    if after >= 0 { return true }
    give(bytes)
    return false
  }

  func give(_ bytes: Int) { left.add(bytes, ordering: .relaxed) }

  func has(_ bytes: Int) -> Bool { left.load(ordering: .relaxed) >= bytes }
}

private func withoutBlanksBehind(_ value: String) -> String {
  let last = value.utf8.lastIndex { $0 != UInt8(ascii: " ") && $0 != UInt8(ascii: "\t") }
  return last.map { String(value[...$0]) } ?? ""
}

private func collect(
  _ context: UnsafeMutableRawPointer?, _ kind: MHD_ValueKind, _ name: UnsafePointer<CChar>?,
  _ value: UnsafePointer<CChar>?
) -> MHD_Result {
  guard let context = unsafe context, let name = unsafe name else { return .YES }
  let text = unsafe value.map { unsafe String(cString: $0) } ?? ""
  unsafe context.assumingMemoryBound(to: [HTTPRequest.Field].self).pointee
    .append(HTTPRequest.Field(String(cString: name), text))
  return .YES
}
