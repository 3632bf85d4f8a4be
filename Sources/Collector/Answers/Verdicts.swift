internal import BusClient
internal import EventCodec
internal import Primitives

/// What became of each event of a request, in the request's order.
struct Verdicts: Sendable {
  enum Entry: Sendable {
    /// Which of the published events it is, and where its id stands in their payloads.
    case taken(event: Int, messageId: Range<Int>)
    case refused(messageId: [UInt8], EventRefusal)
  }

  private(set) var entries: [Entry] = []
  private(set) var refused = 0
  /// The events that are to be published.
  var events = EncodedEvents()

  var accepted: Int { entries.count - refused }

  mutating func take(name: [UInt8], messageId: Range<Int>) {
    entries.append(.taken(event: events.count, messageId: messageId))
    events.add(name: name)
  }

  mutating func refuse(messageId: [UInt8], _ refusal: EventRefusal) {
    refused += 1
    entries.append(.refused(messageId: messageId, refusal))
  }

  /// Of the ids of the events that are to be published, in their order; of no use beyond this process.
  var identity: UInt64 {
    var hasher = Hasher()
    for case .taken(_, let id) in entries {
      hasher.combine(id.count)
      unsafe events.payloads.withUnsafeBytes { bytes in
        unsafe hasher.combine(bytes: UnsafeRawBufferPointer(rebasing: bytes[id]))
      }
    }
    return UInt64(bitPattern: Int64(hasher.finalize()))
  }

  /// The same after the bus has said which it did not take.
  func applying(_ receipt: PublishReceipt) -> Verdicts {
    guard !receipt.refused.isEmpty else { return self }
    var reasons: [Int: PublishReceipt.Refusal] = [:]
    for refusal in receipt.refused { reasons[refusal.index] = refusal }
    var verdicts = self
    for (index, entry) in entries.enumerated() {
      guard case .taken(let event, let id) = entry, let reason = reasons[event] else { continue }
      verdicts.entries[index] = .refused(
        messageId: Array(events.payloads[id]), EventRefusal(code: reason.code, reason.text))
      verdicts.refused += 1
    }
    return verdicts
  }

  /// How many events have each verdict: `STORED`, or the code of their refusal.
  var counts: [String: Int] {
    var counts: [String: Int] = [:]
    for case .refused(_, let refusal) in entries { counts[refusal.code, default: 0] += 1 }
    if accepted > 0 { counts["STORED"] = accepted }
    return counts
  }
}
