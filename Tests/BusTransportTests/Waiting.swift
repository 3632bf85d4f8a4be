internal import BusTransport
internal import Primitives
internal import Testing

/// Waiting for facts, never for time: each gives up after `patience` by failing the test.
enum Waiting {
  struct TimeOver: Error {}

  static func until(_ fact: () throws -> Bool) throws {
    let _: Void = try first { try fact() ? () : nil }
  }

  /// Tries until `fact` returns something.
  static func first<T>(_ fact: () throws -> T?) throws -> T {
    let deadline = SystemClock.monotonic() + patience
    while SystemClock.monotonic() < deadline {
      if let result = try fact() { return result }
    }
    throw TimeOver()
  }
}

extension Socket {
  /// The frames of the next message.
  func receive() throws -> [[UInt8]] {
    guard let frames = try BusTransportTests.receive(self) else { throw Waiting.TimeOver() }
    return frames
  }

  /// Sends as soon as the queue takes it.
  func send(_ frames: [UInt8]...) throws {
    for (index, frame) in frames.enumerated() {
      try Waiting.until { try trySend(frame, more: index < frames.count - 1) }
    }
  }

  /// What has arrived already; a message at a time, first frames only.
  func drain() throws -> [[UInt8]] {
    var all: [[UInt8]] = []
    var message = Message()
    while try tryReceive(into: &message) {
      all.append(message.bytes.copied())
      _ = try dropRest(&message)
    }
    return all
  }

  func waitForConnection(_ kind: ConnectionEvent.Kind) throws -> ConnectionEvent {
    var message = Message()
    return try Waiting.first {
      let event = try nextConnectionEvent(using: &message)
      return event?.kind == kind ? event : nil
    }
  }

  /// Binds to a port of the system's choice; returns the address.
  func bindAnywhere() throws -> String {
    try bind("tcp://127.0.0.1:*")
    return try lastEndpoint()
  }
}

func bytes(_ text: String) -> [UInt8] { [UInt8](text.utf8) }
