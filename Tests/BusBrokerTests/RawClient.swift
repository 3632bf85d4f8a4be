import BusProtocol
import BusTransport
import Primitives
import Testing

/// Speaks the protocol as any client may, one message at a time: what a test needs to see the broker
/// from outside. Every wait ends with the fact, or fails after ten seconds.
struct RawClient: ~Copyable {
  private let socket: Socket
  private var poll = PollSet()
  private var frame = Message()
  var sequence: UInt64 = 0

  init(_ context: ZeroMQContext, _ address: String) throws {
    let socket = try Socket(context, .dealer)
    try socket.connect(address)
    _ = poll.add(socket)
    self.socket = socket
  }

  func send(_ bytes: [UInt8], more: Bool = false) throws {
    try #require(try socket.trySend(bytes, more: more))
  }

  /// The next message, whatever it is.
  mutating func receive() throws -> [UInt8] {
    let deadline = SystemClock.monotonic() + 10_000_000_000
    while SystemClock.monotonic() < deadline {
      try poll.wait(milliseconds: 100)
      if try socket.tryReceive(into: &frame) { return frame.bytes.copied() }
    }
    throw NoMessage()
  }

  /// The next message of this verb; others (heads, pongs) are passed over.
  mutating func receive(_ verb: Verb) throws -> [UInt8] {
    while true {
      let message = try receive()
      if try header(message).verb == verb { return message }
    }
  }

  func header(_ message: [UInt8]) throws -> MessageHeader {
    try unsafe MessageHeader(decoding: message.span.bytes)
  }

  mutating func hello(_ producer: UInt8 = 1, instance: [UInt8] = [1]) throws -> WelcomeMessage {
    try send(
      HelloMessage(
        client: "test", producer: [UInt8](repeating: producer, count: 16), instance: instance
      ).encode())
    let message = try receive(.welcome)
    return try unsafe WelcomeMessage(decoding: message.span.bytes)
  }

  /// Sends one batch of events with these names and waits for nothing.
  mutating func publish(_ names: [String], token: UInt64, previous: UInt64? = nil) throws {
    let last = previous ?? sequence
    sequence = last + 1
    var message: [UInt8] = []
    PublishMessage(sequence: sequence, previous: last, round: 0).encode(
      token: token, into: &message)
    var builder = BatchBuilder()
    for (index, name) in names.enumerated() {
      builder.payloads.append(contentsOf: payload(name, index))
      builder.append(name: Array(name.utf8))
    }
    builder.build(into: &message)
    try send(message)
  }

  mutating func acknowledged() throws -> AcknowledgeMessage {
    let message = try receive(.acknowledge)
    return try unsafe AcknowledgeMessage(decoding: message.span.bytes)
  }

  mutating func refused() throws -> RefuseMessage {
    let message = try receive(.refuse)
    return try unsafe RefuseMessage(decoding: message.span.bytes)
  }

  mutating func open(
    _ name: String = "", filters: [NameFilter] = [], start: StartPosition = .earliest,
    instance: [UInt8] = [1]
  ) throws -> OpenedMessage {
    try send(
      OpenMessage(
        client: "test", name: Array(name.utf8), filters: filters, start: start, instance: instance
      ).encode())
    let message = try receive(.opened)
    return try unsafe OpenedMessage(decoding: message.span.bytes)
  }

  /// Names and offsets of the events of the next BATCH.
  mutating func events() throws -> (events: [Delivered], scannedTo: Position) {
    let message = try receive(.batch)
    return try Self.events(of: message)
  }

  static func events(of message: [UInt8]) throws -> (events: [Delivered], scannedTo: Position) {
    let span = unsafe message.span.bytes
    let decoded = try DeliveryMessage(decoding: span)
    var events: [Delivered] = []
    for delivery in decoded.deliveries {
      let bytes = span.extracting(delivery.range)
      let batch = try Batch(checking: bytes)
      let names = batch.nameRanges(in: bytes)
      var payloadAt = batch.payloadsStart
      for index in 0..<batch.eventCount {
        let entry = batch.entry(index, in: bytes, payloadAt: &payloadAt)
        events.append(
          Delivered(
            name: String(decoding: bytes.extracting(names[entry.name]).copied(), as: UTF8.self),
            offset: delivery.base + UInt64(entry.distance)))
      }
    }
    return (events, decoded.scannedTo)
  }
}

struct NoMessage: Error {}

struct Delivered: Hashable {
  var name: String
  var offset: UInt64
}

/// A track of this name with one property.
func payload(_ name: String, _ index: Int) -> [UInt8] {
  var writer = MessagePackWriter()
  writer.writeMapHeader(3)
  writer.write("type")
  writer.write("track")
  writer.write("event")
  writer.write(name)
  writer.write("properties")
  writer.writeMapHeader(1)
  writer.write("n")
  writer.write(index)
  return writer.bytes
}
