import Primitives

@testable import BusBroker

/// One client's connection: a queue each way, in order, as TCP keeps it. Which connection moves next is
/// chosen by the seed, so messages of different ones overtake each other and wait as long as it likes.
struct Link {
  /// Who the client is to the broker on this connection; a new one after each break.
  private(set) var peer: Peer
  private(set) var up: [[UInt8]] = []
  private(set) var down: [[UInt8]] = []

  init(_ peer: Peer) { self.peer = peer }

  mutating func sendUp(_ message: [UInt8]) { up.append(message) }
  mutating func sendDown(_ message: [UInt8]) { down.append(message) }

  /// The next message; now and then it stays, and so comes twice.
  mutating func nextUp(using random: inout SeededRandom) -> [UInt8]? {
    guard let message = up.first else { return nil }
    if Int.random(in: 0..<50, using: &random) > 0 { up.removeFirst() }
    return message
  }

  mutating func nextDown(using random: inout SeededRandom) -> [UInt8]? {
    guard let message = down.first else { return nil }
    if Int.random(in: 0..<50, using: &random) > 0 { down.removeFirst() }
    return message
  }

  /// The connection breaks and comes back without a word to the client: what was under way is lost from
  /// some message on, and what had not left yet goes to the new one.
  mutating func breakOff(_ next: Peer, using random: inout SeededRandom) {
    up.removeFirst(Int.random(in: 0...up.count, using: &random))
    down.removeLast(Int.random(in: 0...down.count, using: &random))
    peer = next
  }

  /// The client closed its socket, with all that was in it, and made a new one.
  mutating func replace(_ next: Peer) { self = Link(next) }
}
