internal import BusProtocol
internal import EventJournal
internal import Primitives

/// Group commit. One write is under way at a time; meanwhile the next group fills, and all that is
/// closed by then goes together. What a write brought to disk is acknowledged, delivered and shown
/// live, never before.
extension BrokerCore {
  /// Closes groups and hands them to the writer: at once when it is idle, since waiting for company
  /// would only add latency; full groups close while it is busy.
  mutating func flush(retrying: Bool = false) {
    if journal.groupIsFull || (writing == 0 && journal.hasPendingRecords) { closeGroup() }
    guard writing == 0, !pending.isEmpty, writeTrouble == nil || retrying else { return }
    var bytes = 0
    var groups: [JournalGroup] = []
    for entry in pending {
      // A bound on one write keeps the latency of what comes next.
      guard groups.isEmpty || bytes + entry.group.byteCount <= 4 << 20 else { break }
      bytes += entry.group.byteCount
      groups.append(entry.group)
    }
    writing = groups.count
    actions.append(.write(groups))
  }

  mutating func closeGroup() {
    let group = journal.takeGroup { BrokerSnapshot.encode(names: names, producers: producers) }
    guard let group else { return }
    pending.append(PendingGroup(group: group, open: openGroup))
    openGroup = OpenGroup()
  }

  /// The writer has brought `count` groups to disk; `failure` says why not the one after them, which
  /// stays first in line and is tried again at the next tick.
  mutating func written(_ count: Int, failure: String? = nil) {
    precondition(count <= writing && count <= pending.count, "groups written that were not sent")
    for entry in pending[..<count] { finish(entry) }
    pending.removeFirst(count)
    writing = 0
    if let failure {
      if writeTrouble == nil {
        metrics.diskFullEpisodes += 1
        report(.error, "disk_full", "new events are refused, reading goes on: \(failure)")
      }
      writeTrouble = failure
    } else {
      if writeTrouble != nil {
        writeTrouble = nil
        report(.info, "disk_full_over", "the disk takes events again")
      }
      flush()
    }
  }

  private mutating func finish(_ entry: PendingGroup) {
    journal.complete(entry.group)
    entry.group.extend(&retention.segments)
    metrics.groupsWritten += 1
    metrics.eventsStored += UInt64(entry.open.eventCount)
    metrics.batchesStored += UInt64(entry.open.batchCount)
    metrics.bytesStored += UInt64(entry.group.byteCount)
    bytesInFlight -= entry.open.byteCount
    for acknowledgement in entry.acknowledgements {
      let token = acknowledgement.token
      guard producerSessions[token] != nil else { continue }
      producerSessions[token]!.durableSequence = acknowledgement.sequence
      producerSessions[token]!.nextOffset = acknowledgement.nextOffset
      producerSessions[token]!.bytesInFlight -= acknowledgement.bytes
      acknowledge(
        token, sequence: acknowledgement.sequence, nextOffset: acknowledgement.nextOffset)
    }
    let chunk = entry.group.chunk
    guard !chunk.records.isEmpty else { return }
    tail.append(chunk)
    show(chunk, entry.open)
  }

  /// Passes durable events on to the live feed, or counts them as skipped while it is behind.
  private mutating func show(_ chunk: JournalChunk, _ group: OpenGroup) {
    guard !liveIsBehind else {
      metrics.eventsNotLive += UInt64(group.eventCount)
      liveMissedSome = true
      return
    }
    var live = LiveGroup(chunk: chunk, names: group.names, head: journal.durableHead)
    live.newNames = (namesKnownToLive..<names.count).map { names[$0] }
    namesKnownToLive = names.count
    if liveMissedSome { live.lastSequences = names.lastSequence }
    liveMissedSome = false
    actions.append(.live(live))
  }

  /// What the live feed must know without any event: at the start, and after it was behind.
  mutating func refreshLive() {
    guard liveMissedSome, !liveIsBehind, pending.isEmpty, !journal.hasPendingRecords else { return }
    liveMissedSome = false
    var live = LiveGroup(chunk: nil, names: GroupNames(), head: journal.durableHead)
    live.newNames = (namesKnownToLive..<names.count).map { names[$0] }
    namesKnownToLive = names.count
    live.lastSequences = names.lastSequence
    actions.append(.live(live))
  }

  mutating func report(_ level: OperatorReport.Level, _ key: String, _ text: String) {
    actions.append(.report(OperatorReport(level, key, text)))
  }
}
