internal import BusProtocol
internal import Primitives

/// What a live subscriber gets.
public enum LiveItem: Hashable, Sendable {
  /// The broker knows of the subscription: what is published from now on comes.
  case ready(name: String)
  /// `sequence` counts the events of its name, from 1.
  case event(ReceivedEvent, sequence: UInt64)
  /// Events of this name were lost: sequences `from ..< to`; offsets between `after` and `before` hold
  /// them, for a fetch.
  case lost(name: String, from: UInt64, to: UInt64, after: UInt64, before: UInt64)
}

/// Finds gaps in the live feed: by the sequence of each event, and by the head beacon when the lost
/// event was the last one. A new epoch is a new count, never a gap.
struct LiveCore {
  private struct Track {
    var epoch: UInt32
    var sequence: UInt64
    var offset: UInt64
  }

  private var tracks: [[UInt8]: Track] = [:]
  private var ready: Set<[UInt8]> = []
  private(set) var messagesIgnored: UInt64 = 0

  /// Takes one message of three frames.
  mutating func receive(_ topic: RawSpan, _ payload: RawSpan, _ meta: RawSpan) -> [LiveItem] {
    let head: LiveMeta
    do throws(ProtocolError) { head = try LiveMeta(decoding: meta) } catch {
      messagesIgnored += 1
      return []
    }
    let size = topic.byteCount
    guard size > 1, topic.bigEndian(at: size - 1, as: UInt8.self) == 0 else {
      messagesIgnored += 1
      return []
    }
    let name = topic.extracting(0..<size - 1).copied()
    // A name that begins like a beacon's is refused by the broker, so none is taken for an event.
    if name.starts(with: LiveMeta.beaconPrefix) {
      return beacon(Array(name.dropFirst(LiveMeta.beaconPrefix.count)), head)
    }
    return event(name, payload, head)
  }

  private mutating func beacon(_ name: [UInt8], _ head: LiveMeta) -> [LiveItem] {
    var items: [LiveItem] = []
    if let track = tracks[name], track.epoch == head.epoch {
      if head.sequence > track.sequence { items.append(lost(name, track, head.sequence + 1, head)) }
    }
    if tracks[name].map({ $0.epoch != head.epoch || $0.sequence < head.sequence }) ?? true {
      tracks[name] = Track(epoch: head.epoch, sequence: head.sequence, offset: head.offset)
    }
    if ready.insert(name).inserted { items.append(.ready(name: text(name))) }
    return items
  }

  private mutating func event(
    _ name: [UInt8], _ payload: RawSpan, _ head: LiveMeta
  ) -> [LiveItem] {
    var items: [LiveItem] = []
    if let track = tracks[name], track.epoch == head.epoch {
      if head.sequence > track.sequence + 1 { items.append(lost(name, track, head.sequence, head)) }
    }
    // One that a beacon has overtaken was reported lost already, and still is an event.
    if tracks[name].map({ $0.epoch != head.epoch || $0.sequence < head.sequence }) ?? true {
      tracks[name] = Track(epoch: head.epoch, sequence: head.sequence, offset: head.offset + 1)
    }
    items.append(
      .event(
        ReceivedEvent(
          name: text(name), payload: payload.copied(), offset: head.offset, epoch: head.epoch,
          time: head.time), sequence: head.sequence))
    return items
  }

  private func lost(_ name: [UInt8], _ track: Track, _ to: UInt64, _ head: LiveMeta) -> LiveItem {
    .lost(
      name: text(name), from: track.sequence + 1, to: to, after: track.offset, before: head.offset)
  }

  private func text(_ name: [UInt8]) -> String { String(decoding: name, as: UTF8.self) }
}
