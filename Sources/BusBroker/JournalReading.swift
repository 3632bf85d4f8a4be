internal import BusProtocol
internal import EventJournal

/// What the reader thread does with a request: segment files in, messages out.
struct JournalReading<Storage: JournalStorage> {
  /// Bytes of segment file looked at for one answer. A filter that matches little would else hold the
  /// thread for as long as the journal is.
  static var scanBytes: Int { 8 << 20 }
  /// One read from the file; a filtered subscriber's next one begins where this ended.
  static var chunkBytes: Int { 1 << 20 }

  let journal: Journal<Storage>

  func perform(_ request: ReadRequest) -> ReadResult {
    do throws(JournalError) {
      switch request {
      case .deliver(let delivery): return .delivered(try deliver(delivery))
      case .fetch(let fetch): return try self.fetch(fetch)
      case .openAt(let time, let end, let open, let peer, let holder):
        return .open(open, peer, holder, offset: try journal.offset(atOrAfter: time, upTo: end))
      case .seekTo(let time, let end, let admin, let peer):
        return .seek(admin, peer, offset: try journal.offset(atOrAfter: time, upTo: end))
      case .deleteSegments(let offset):
        let gone = try journal.removeSegments(below: offset)
        return .deleted(segments: gone.count, earliest: journal.earliest)
      }
    } catch {
      return .failed("\(error)")
    }
  }

  private func deliver(_ request: ReadRequest.Delivery) throws(JournalError) -> ReadResult.Delivery
  {
    var filter = request.filter
    var result = ReadResult.Delivery(
      token: request.token, filter: filter, from: request.from, scannedTo: request.from)
    var builder = DeliveryBuilder(
      MessageHeader(.batch, token: request.token), subscriber: request.subscriber,
      from: request.from, limitBytes: request.limitBytes, limitEvents: request.limitEvents,
      expecting: filter.matchesAll ? request.limitBytes : 0)
    switch try scan(&builder, &filter, end: request.end) {
    case .gap(let to, let why) where builder.deliveries == 0: result.gap = (to, why)
    default: break
    }
    result.filter = filter
    result.eventCount = builder.eventCount
    result.deliveries = builder.deliveries
    result.unreadable = builder.unreadable
    result.scannedTo = builder.scannedTo
    result.message = builder.finish()
    return result
  }

  private enum ScanEnd {
    case done
    case gap(to: UInt64, why: String)
  }

  /// Reads chunks into the builder until its message is full, the end is reached, or enough was read.
  private func scan(
    _ builder: inout DeliveryBuilder, _ filter: inout SubscriptionFilter, end: UInt64
  ) throws(JournalError) -> ScanEnd {
    var scanned = 0
    while !builder.isFull, scanned < Self.scanBytes, builder.scannedTo.offset < end {
      let at = builder.scannedTo.offset
      do throws(JournalError) {
        guard
          let chunk = try journal.read(
            from: at, maximumBytes: min(Self.chunkBytes, builder.limitBytes + (64 << 10)),
            upTo: end)
        else { return .done }
        if let lost = chunk.lost.first(where: { $0.contains(at) }) {
          return .gap(to: lost.upperBound, why: "damage")
        }
        scanned += max(1, chunk.bytes.count)
        builder.add(chunk, filter: &filter)
      } catch .behindRetention(let earliest) {
        return .gap(to: earliest, why: "retention")
      } catch .damaged(let damage) {
        return .gap(to: damage.resumesAt ?? end, why: "damage")
      }
    }
    return .done
  }

  private func fetch(_ request: ReadRequest.Fetch) throws(JournalError) -> ReadResult {
    var from = request.from ?? Position(epoch: 0, offset: 0)
    if request.from == nil {
      from.offset = try journal.offset(atOrAfter: request.time, upTo: request.end)
    }
    from.offset = max(from.offset, journal.earliest)
    var filter = request.filter
    var builder = DeliveryBuilder(
      MessageHeader(.fetched, token: request.request), subscriber: [], from: from,
      end: request.end, limitBytes: request.limitBytes, limitEvents: request.limitEvents)
    if case .gap(let to, _) = try scan(&builder, &filter, end: request.end), builder.deliveries == 0
    {
      builder.skip(to: to)
    }
    let isLast = builder.scannedTo.offset >= request.end
    return .fetched(
      request.peer, builder.finish(flags: isLast ? DeliveryMessage.lastFlag : 0),
      builder.unreadable)
  }
}
