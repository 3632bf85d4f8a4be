public import BusProtocol
internal import Primitives

/// What a program on the bus can meet, each with what to do about it.
public enum BusClientError: Error, Hashable, Sendable, CustomStringConvertible {
  /// Another process speaks under this producer's or subscriber's name: this one must stop.
  case fenced
  /// The broker does not want this client or request; trying again does not help.
  case refused(code: String, text: String)
  /// The broker does not let this client in, or not to do this, until somebody at the broker changes
  /// that; the client goes on asking, slowly.
  case denied(text: String)
  /// The broker speaks another version of the protocol.
  case unsupportedVersion(text: String)
  /// The producer holds as much as it may (`ProducerConfiguration.maximumBytes`).
  case full(events: Int, bytes: Int)
  /// The name or the event breaks a limit; it was not taken.
  case invalidEvent(code: RefusalCode, text: String)
  /// The subscriber wanted `from`, which the broker no longer has; its policy is to stop.
  case gap(SubscriberGap)
  /// The journal ends before what the subscriber has read, in the same epoch or one before: new events
  /// would get the offsets of those that it had.
  case journalWentBack(read: Position, head: Position)
  /// `close` was called.
  case closed
  /// No answer came until the deadline.
  case timedOut(what: String)
  /// An address or option that cannot be used.
  case configuration(text: String)
  /// A call of the operating system, of ZeroMQ or of SQLite failed.
  case system(text: String)

  public var description: String {
    switch self {
    case .fenced: "another process took over this name"
    case .refused(let code, let text): "refused by the broker (\(code)): \(text)"
    case .denied(let text): "DENIED: \(text)"
    case .unsupportedVersion(let text): "the broker speaks another protocol: \(text)"
    case .full(let events, let bytes):
      "\(events) events of \(bytes) bytes wait for the broker; no more are taken"
    case .invalidEvent(let code, let text): "\(code.rawValue): \(text)"
    case .gap(let gap): gap.description
    case .journalWentBack(let read, let head):
      "the journal went back, as when its disk is set back to a snapshot: it ends at offset \(head.offset) of "
        + "epoch \(head.epoch), and this subscriber has read up to \(read.offset) of epoch \(read.epoch). Events "
        + "that come now would be taken for those. Stop the broker, remove `origin.mark` from its data "
        + "directory, and start it: it begins a new epoch, in which this goes on"
    case .closed: "closed"
    case .timedOut(let what): "no answer in time: \(what)"
    case .configuration(let text): text
    case .system(let text): text
    }
  }
}

/// Events that a subscriber wanted and will not get. Both ends are journal positions, half open.
public struct SubscriberGap: Hashable, Sendable, CustomStringConvertible {
  public var from: Position
  public var to: Position
  /// `retention`, `epoch` or `damage`.
  public var why: String

  public init(from: Position, to: Position, why: String) {
    self.from = from
    self.to = to
    self.why = why
  }

  /// How many offsets are missing; 0 where the epoch changed, since they cannot be compared.
  public var offsets: UInt64 {
    from.epoch == to.epoch && to.offset > from.offset ? to.offset - from.offset : 0
  }

  public var description: String {
    if offsets == 0, why == "epoch" {
      return "the journal has lost its end, or is an older copy: what was read up to "
        + "\(from.epoch):\(from.offset) may not be in it, and it goes on at \(to.epoch):\(to.offset) (epoch)"
    }
    return
      "\(offsets.counted("event")) from \(from.epoch):\(from.offset) to \(to.epoch):\(to.offset) \(offsets == 1 ? "is" : "are") gone (\(why))"
  }
}
