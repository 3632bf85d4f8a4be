internal import BusProtocol
internal import EventJournal
internal import Primitives

/// A client's connection, as the ROUTER socket names it: libzmq's own ids are a zero byte and 32 bits.
/// A peer that brings an id of its own is refused, since two could then be mistaken for each other.
struct Peer: Hashable, Sendable {
  var id: UInt32
}

/// What the core decided; the shell performs it.
enum BrokerAction: Sendable {
  /// A message to a client. When the peer is gone or full, the shell tells the core (`peerLost`).
  case send(Peer, [UInt8])
  /// Closed groups for the writer thread, in order. One such action is under way at a time.
  case write([JournalGroup])
  /// Durable events for the live feed's thread.
  case live(LiveGroup)
  /// A read from segment files, for the reader thread.
  case read(ReadRequest)
  /// Changes for the cursor store's thread. One such action is under way at a time.
  case storeCursors([CursorChange])
  /// For the log: something an operator should know.
  case report(OperatorReport)
}
