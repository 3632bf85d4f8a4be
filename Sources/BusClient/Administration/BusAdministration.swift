public import BusProtocol
internal import BusTransport
internal import Primitives

/// Looks at and changes a broker: requests of tools, answered one at a time.
///
/// Belongs to the thread that made it; each call blocks until the answer or the deadline. Needs no
/// session, and a request is repeated on a new connection when nothing came.
public struct BusAdministration: ~Copyable {
  private var connection: BusConnection
  private var nextRequest: UInt64 = 1
  private let address: String
  public var deadline = Duration.seconds(5)

  public init(
    address: String, security: BusSecurity? = .ofProcess
  ) throws(BusClientError) {
    try BusConnection.check(address, security)
    connection = try BusConnection.open(address, security, wake: try newWakeSignal())
    self.address = address
  }

  /// What the broker is and does: the map that `status` prints.
  public mutating func status() throws(BusClientError) -> ControlMap {
    try ask(.status, ControlMap())
  }

  /// The named subscribers, one map each.
  public mutating func consumers() throws(BusClientError) -> [ControlMap] {
    try ask(.consumers, ControlMap()).list("consumers").compactMap {
      if case .map(let map) = $0 { map } else { nil }
    }
  }

  public mutating func show(_ name: String) throws(BusClientError) -> ControlMap {
    try ask(.show, named(name))
  }

  /// Moves a subscriber's cursor; a connected one goes on there.
  public mutating func seek(
    _ name: String, to target: StartPosition
  ) throws(BusClientError) -> ControlMap {
    var message = AdminMessage(request: 0, action: .seek, arguments: named(name))
    message.setSeekTarget(target)
    return try ask(.seek, message.arguments)
  }

  public mutating func pause(_ name: String) throws(BusClientError) -> ControlMap {
    try ask(.pause, named(name))
  }

  public mutating func resume(_ name: String) throws(BusClientError) -> ControlMap {
    try ask(.resume, named(name))
  }

  /// Forgets a subscriber that is not connected: its cursor, and its hold on the journal.
  public mutating func delete(_ name: String) throws(BusClientError) {
    _ = try ask(.delete, named(name))
  }

  /// Reads a range of the journal, batch by batch, until `body` returns false or the end is reached.
  ///
  /// - Parameter end: the first offset that is not wanted; nil: the head at the time of each request.
  /// - Returns: where reading stopped.
  @discardableResult
  public mutating func fetch(
    from start: StartPosition, to end: UInt64? = nil, filters: [NameFilter] = [],
    _ body: (EventBatch) throws(BusClientError) -> Bool
  ) throws(BusClientError) -> Position {
    var start = start
    var position = Position(epoch: 0, offset: 0)
    while true {
      let request = takeNumber()
      let message = FetchMessage(request: request, start: start, to: end ?? 0, filters: filters)
      var (batch, isLast) = (EventBatch(end: position), false)
      try exchange(message.encode(), request) { header, bytes throws(ProtocolError) in
        guard header.verb == .fetched else { return false }
        batch = try EventBatch(bytes, from: position)
        isLast = header.flags & DeliveryMessage.lastFlag != 0
        return true
      }
      let isAdvancing = batch.end > position
      position = batch.end
      if !batch.isEmpty, try !body(batch) { return position }
      if isLast || !isAdvancing || end.map({ position.offset >= $0 }) ?? false { return position }
      start = .position(position)
    }
  }

  private func named(_ name: String) -> ControlMap {
    var map = ControlMap()
    map["name"] = .bytes(Array(name.utf8))
    return map
  }

  private mutating func takeNumber() -> UInt64 {
    nextRequest += 1
    return nextRequest
  }

  private mutating func ask(
    _ action: AdminMessage.Action, _ arguments: ControlMap
  ) throws(BusClientError) -> ControlMap {
    let request = takeNumber()
    let message = AdminMessage(request: request, action: action, arguments: arguments)
    var result = ControlMap()
    try exchange(message.encode(), request) { header, bytes throws(ProtocolError) in
      guard header.verb == .reply else { return false }
      result = try ReplyMessage(decoding: bytes).result
      return true
    }
    return result
  }

  /// Sends a request and waits for what answers it.
  private mutating func exchange(
    _ message: [UInt8], _ request: UInt64,
    _ take: (MessageHeader, RawSpan) throws(ProtocolError) -> Bool
  ) throws(BusClientError) {
    let end = BusClient.deadline(after: deadline)
    var outcome: Result<Bool, BusClientError> = .success(false)
    do throws(TransportError) {
      try connection.send(message)
      while case .success(false) = outcome, SystemClock.monotonic() < end {
        try connection.wait(until: end)
        try connection.receive(limit: 1) { bytes in
          outcome = Self.outcome(bytes, request, take)
        }
        if let denial = connection.takeDenial() { outcome = .failure(.denied(text: denial.text)) }
      }
      // What may still come belongs to nobody.
      switch outcome {
      case .success(false), .failure(.denied): try connection.reconnect()
      default: break
      }
    } catch {
      throw .system(text: error.description)
    }
    if try !outcome.get() {
      throw .timedOut(what: "\(address) did not answer within \(deadline)")
    }
  }

  private static func outcome(
    _ bytes: RawSpan, _ request: UInt64,
    _ take: (MessageHeader, RawSpan) throws(ProtocolError) -> Bool
  ) -> Result<Bool, BusClientError> {
    do throws(ProtocolError) {
      let header = try MessageHeader(decoding: bytes)
      if header.verb == .refuse, header.token == request || header.token == 0 {
        let refusal = try RefuseMessage(decoding: bytes)
        if refusal.knownCode == .denied { return .failure(.denied(text: refusal.text)) }
        return .failure(.refused(code: refusal.code, text: refusal.text))
      }
      guard header.token == request else { return .success(false) }
      return .success(try take(header, bytes))
    } catch {
      return .failure(.unsupportedVersion(text: error.description))
    }
  }
}

func newWakeSignal() throws(BusClientError) -> WakeSignal {
  do throws(SystemError) { return try WakeSignal() } catch {
    throw .system(text: error.description)
  }
}
