internal import BusProtocol
internal import BusTransport
internal import EventModel
internal import Primitives

#if canImport(Glibc)
  internal import Glibc
#else
  internal import Darwin
#endif

/// Ends the connections of live subscribers that ask for more than their key allows, and of those whose
/// key has lost its rights.
///
/// An XPUB takes every subscription before its owner sees it, so what can be refused is the connection.
/// Shut down, it takes no further byte, whatever is queued for it.
struct LiveGuard {
  private struct Connection {
    var holder: AccessHolder
    /// Who is at the other end, so that a descriptor that was closed and used again is not mistaken.
    var peer: [UInt8]
  }

  private var view: AccessView
  /// By descriptor, so bounded by the limit of open files.
  private var connections: [Int32: Connection] = [:]

  init(_ access: AccessThread) { view = AccessView(access.control) }

  /// Takes new rights. Who has others than before must connect and subscribe again.
  mutating func refresh() {
    guard view.refresh() else { return }
    for (descriptor, connection) in connections {
      let entry = connection.holder.entry
      guard view.table.holder(of: entry.key)?.entry != entry else { continue }
      if LiveConnections.peer(descriptor) == connection.peer { Self.end(descriptor) }
      connections[descriptor] = nil
    }
  }

  /// Looks at a subscription that has just been read.
  mutating func look(at topic: [UInt8], _ message: borrowing Message, _ descriptor: Int32?) {
    guard let descriptor else { return }
    let holder = view.sender(of: message)
    if let holder, Self.isAllowed(topic, holder) {
      if connections[descriptor]?.holder !== holder {
        connections[descriptor] = Connection(holder: holder, peer: LiveConnections.peer(descriptor))
      }
      return
    }
    let name = holder.map { "key '\($0.name)'" } ?? "a key that is not authorised"
    view.control.count(
      .forbidden, on: .live,
      sample: "\(name) may not subscribe to '\(String(decoding: topic, as: UTF8.self))'")
    Self.end(descriptor)
  }

  /// A topic with its NUL is one name, or one name's beacon; without, a prefix of whatever begins so.
  static func isAllowed(_ topic: [UInt8], _ holder: AccessHolder) -> Bool {
    guard topic.last == 0 else { return holder.maySubscribe(EventPattern(prefix: topic)) }
    let beacon = LiveMeta.beaconPrefix
    let name = topic.starts(with: beacon) ? topic[beacon.count...] : topic[...]
    return holder.maySubscribe(EventPattern(exact: Array(name.dropLast())))
  }

  private static func end(_ descriptor: Int32) { _ = shutdown(descriptor, Int32(SHUT_RDWR)) }
}
