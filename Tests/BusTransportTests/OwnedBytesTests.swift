internal import BusTransport
internal import Primitives
internal import Testing

/// Who holds an array that is sent without copying, and for how long.
@Suite(.timeLimit(.minutes(5)))
struct OwnedBytesTests {

  @Test func `a sent array is let go when the receiver is done with it`() throws {
    let context = try ZeroMQContext()
    let pull = try Socket(context, .pull)
    try pull.bind("inproc://let-go")
    let push = try Socket(context, .push)
    try push.connect("inproc://let-go")
    var array = [UInt8](repeating: 3, count: 5000)
    let place = address(of: array)
    #expect(try push.trySend(Message(owning: array)))
    var received = Message()
    #expect(try pull.tryReceive(into: &received))
    let receivedPlace = unsafe received.bytes.withUnsafeBytes { UInt(bitPattern: $0.baseAddress) }
    #expect(receivedPlace == place)
    received = Message()
    // An array that somebody else holds would move when it is written.
    array[0] = 4
    #expect(address(of: array) == place)
  }

  @Test func `an array of a message that is never sent is let go`() {
    var array = [UInt8](repeating: 3, count: 5000)
    let place = address(of: array)
    do { _ = Message(owning: array) }
    array[0] = 4
    #expect(address(of: array) == place)
  }

  @Test func `a full queue leaves the message whole`() throws {
    let context = try ZeroMQContext()
    var options = SocketOptions()
    options.sendsOnlyWhenConnected = true
    let push = try Socket(context, .push, options)
    try push.connect("tcp://127.0.0.1:9")
    var message = Message(owning: [1, 2, 3])
    #expect(try !push.trySend(&message))
    #expect(message.bytes.copied() == [1, 2, 3])
  }

  private func address(of array: [UInt8]) -> UInt {
    unsafe array.withUnsafeBytes { UInt(bitPattern: $0.baseAddress) }
  }
}
