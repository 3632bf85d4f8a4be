internal import BusClient
internal import BusProtocol
internal import EventCodec
internal import EventModel
internal import Hashing
internal import Primitives
internal import SinkState

/// Turns events of the bus, and dead letters, into what the engine takes.
struct EventPreparer<Adapter: DestinationAdapter>: Sendable {
  private var adapter: Adapter
  private var forgotten: ForgottenPeople
  private let longest: Int
  private var scratch: [UInt8] = []

  init(_ adapter: Adapter, forgotten: ForgottenPeople) {
    self.adapter = adapter
    self.forgotten = forgotten
    let limits = adapter.limits
    longest = min(limits.itemBytes, limits.requestBytes - limits.headBytes)
  }

  mutating func prepare(_ batch: EventBatch) -> FeedBatch {
    var entries: [FeedBatch.Entry] = []
    entries.reserveCapacity(batch.count)
    batch.forEach { place, name, payload in
      entries.append(entry(place, name, payload))
    }
    var prepared = FeedBatch(entries: entries, end: batch.end)
    prepared.gap = batch.gap?.to
    prepared.seek = batch.seek.map { ($0.to, $0.generation) }
    return prepared
  }

  private mutating func entry(
    _ place: EventBatch.Place, _ name: RawSpan, _ payload: RawSpan
  ) -> FeedBatch.Entry {
    let source = EventSource(
      position: place.position, received: Timestamp(nanoseconds: place.time))
    if EventName.isForget(name) {
      return forget(source, place, payload)
    }
    do throws(MessagePackError) {
      let fields = try EventFields(reading: payload)
      let key = Self.key(fields, payload)
      let isForgotten = try forgotten.leavesOut(
        fields, of: payload, at: place.position, isAddressed: place.isAddressed)
      guard !isForgotten else {
        return .event(Self.settled(source, key, .forgotten))
      }
      return .event(prepare(source, key, name, payload, letter: nil))
    } catch {
      return .event(damaged(source, payload, "\(error)"))
    }
  }

  private func damaged(_ source: EventSource, _ payload: RawSpan, _ why: String) -> DeliveryEvent {
    DeliveryEvent(
      source, key: UserKey.nobody, payload: payload.copied(), item: [],
      settled: .dead(Refusal(.validation, "the event is damaged: \(why)")))
  }

  private static func settled(
    _ source: EventSource, _ key: UInt64, _ outcome: DeliveryOutcome
  ) -> DeliveryEvent {
    DeliveryEvent(source, key: key, payload: [], item: [], settled: outcome)
  }

  private mutating func prepare(
    _ source: EventSource, _ key: UInt64, _ name: RawSpan, _ payload: RawSpan, letter: Int64?
  ) -> DeliveryEvent {
    scratch.removeAll(keepingCapacity: true)
    var outcome: DeliveryOutcome?
    var item: [UInt8] = []
    switch adapter.prepare(name, payload, source, into: &scratch) {
    case .ready where scratch.count > longest:
      outcome = .dead(
        Refusal(
          .validation, "\(scratch.count) bytes as sent; \(adapter.name) takes \(longest) an event"))
    // Exactly as long as needed: `Array(scratch)` would share the buffer with all its room.
    case .ready: item = unsafe scratch.span.bytes.copied()
    case .skip: outcome = .skipped
    case .refuse(let reason): outcome = .dead(Refusal(.validation, reason))
    }
    if outcome == .skipped, letter == nil { return Self.settled(source, key, .skipped) }
    return DeliveryEvent(
      source, letter: letter, key: key, payload: payload.copied(), item: item, settled: outcome)
  }

  private mutating func forget(
    _ source: EventSource, _ place: EventBatch.Place, _ payload: RawSpan
  ) -> FeedBatch.Entry {
    do throws(MessagePackError) {
      let people = try forgotten.forget(payload, at: place.position, time: place.time)
      forgotten.markSaved()
      return .forget(
        ForgetMark(
          people.map { .init(person: $0, place: place.position, time: place.time) },
          at: place.position))
    } catch {
      return .event(damaged(source, payload, "\(error)"))
    }
  }

  /// A dead letter that is to be sent again, as it is now.
  mutating func prepare(_ letter: DeadLetter) -> DeliveryEvent {
    let source = EventSource(position: nil, received: letter.received)
    let payload = unsafe letter.payload.span.bytes
    do throws(MessagePackError) {
      let fields = try EventFields(reading: payload)
      let name = try Self.topic(of: payload)
      return unsafe prepare(
        source, Self.key(fields, payload), name.span.bytes, payload, letter: letter.id)
    } catch {
      var event = damaged(source, payload, "\(error)")
      event.letter = letter.id
      return event
    }
  }

  /// The name under which an event travels.
  private static func topic(of payload: RawSpan) throws(MessagePackError) -> [UInt8] {
    let reader = PayloadReader(payload)
    let kind = try reader.text("type").flatMap { EventKind(rawValue: $0) }
    if let topic = kind?.topic { return Array(topic.utf8) }
    return Array((try reader.text("event") ?? "").utf8)
  }

  /// The user's id, else the anonymous one.
  private static func key(_ fields: EventFields, _ payload: RawSpan) -> UInt64 {
    let id = fields.userId.isEmpty ? fields.anonymousId : fields.userId
    return id.isEmpty ? UserKey.nobody : UserKey.of(payload.extracting(id))
  }
}
