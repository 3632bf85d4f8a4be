internal import BusProtocol
internal import Primitives

/// Batches made before the broker's limits and last stored sequence were known are brought into line
/// when they are: what is stored already is left out, what is too large is refused here, and what is
/// too long is cut, since a message over the transport's limit would end the connection without a word.
extension ProducerCore {
  /// Without the events that the caller numbered at or below what is stored; nil when none is left.
  mutating func trimmed(_ batch: OutgoingBatch) -> OutgoingBatch? {
    if batch.sequence != 0, batch.sequence <= stored {
      actions.append(.acknowledged(events: batch.events, cost: batch.cost, row: batch.row))
      return nil
    }
    guard let first = batch.eventSequences.first, first <= stored else { return batch }
    let kept = batch.keeping { batch.eventSequences[$0] > stored }
    actions.append(
      .acknowledged(
        events: batch.events - (kept?.events ?? 0), cost: batch.cost - (kept?.cost ?? 0),
        row: kept == nil ? batch.row : nil))
    return kept
  }

  /// Trims all that wait; called when the broker said what it has.
  mutating func dropStored() {
    var index = 0
    while index < queue.count, let first = queue[index].eventSequences.first, first <= stored {
      let batch = queue[index]
      guard let kept = trimmed(batch) else {
        _ = remove(at: index)
        continue
      }
      replace(at: index, by: kept)
      index += 1
    }
  }

  /// Brings the batches from `index` on within the broker's limits.
  mutating func fit(from index: Int) {
    guard let limits = broker?.limits else { return }
    var index = index
    while index < queue.count {
      if queue[index].largestEvent > limits.eventBytes {
        let before = queue.count
        refuseTooLarge(at: index, limit: limits.eventBytes)
        if queue.count < before { continue }
      }
      let batch = queue[index]
      if batch.events > 1, batch.sequence == 0 || !batch.eventSequences.isEmpty,
        batch.events > limits.batchEvents
          || batch.batchBytes > max(limits.batchBytes, limits.eventBytes)
      {
        halve(at: index)
        continue
      }
      index += 1
    }
  }

  private mutating func refuseTooLarge(at index: Int, limit: Int) {
    var events: [RefuseMessage.Event] = []
    queue[index].forEachEvent { number, _, payload in
      guard payload.byteCount > limit else { return }
      events.append(
        .init(
          index: number, code: RefusalCode.tooLarge.rawValue,
          text: "\(payload.byteCount) bytes; an event may have \(limit)"))
    }
    takeOut(events, from: index)
  }

  private mutating func halve(at index: Int) {
    let batch = queue[index]
    let middle = batch.events / 2
    guard var front = batch.keeping({ $0 < middle }), var back = batch.keeping({ $0 >= middle })
    else { preconditionFailure("a half of \(batch.events) events is empty") }
    front.sequence = front.eventSequences.last ?? 0
    // The spool's row is given back with the last of its events.
    front.row = nil
    back.sequence = batch.sequence
    queuedCost += front.cost + back.cost - batch.cost
    queue[index] = front
    queue.insert(back, at: index + 1)
  }
}
