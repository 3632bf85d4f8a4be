internal import BusTransport
internal import Primitives

/// How long a test waits for what must come. Nobody waits that long unless something is broken.
let patience: Int64 = 10_000_000_000

/// An address inside the process, or in the file system, that no other test uses.
func freshAddress(_ scheme: String) -> String {
  let id = UInt64.random(in: .min ... .max)
  return scheme == "ipc" ? "ipc:///tmp/eventbus-\(id).sock" : "inproc://\(id)"
}

/// All frames of the next message; nil when none comes.
func receive(_ socket: borrowing Socket) throws(TransportError) -> [[UInt8]]? {
  let deadline = SystemClock.monotonic() + patience
  var message = Message()
  var poll = PollSet()
  _ = poll.add(socket)
  while try !socket.tryReceive(into: &message) {
    guard SystemClock.monotonic() < deadline else { return nil }
    try poll.wait(milliseconds: 100)
  }
  var frames = [message.bytes.copied()]
  while message.hasMore, try socket.tryReceive(into: &message) {
    frames.append(message.bytes.copied())
  }
  return frames
}

/// Receives `count` messages and gives the first frame of each.
func receive(_ count: Int, _ socket: borrowing Socket) throws(TransportError) -> [[UInt8]] {
  var received: [[UInt8]] = []
  while received.count < count, let frames = try receive(socket) { received.append(frames[0]) }
  return received
}

extension Socket {
  /// Publishes three frames given as arrays.
  borrowing func publish(_ topic: [UInt8], _ body: [UInt8] = []) throws(TransportError) -> Bool {
    try unsafe publish(topic.span.bytes, body.span.bytes, body.span.bytes)
  }
}
