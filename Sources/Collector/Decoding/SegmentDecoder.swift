internal import BusClient
internal import EventCodec
internal import EventModel
internal import Primitives

/// Makes payloads of events in Segment's form: those of its routes, and of `/v1/events`.
///
/// Holds buffers that it reuses; one thread at a time.
struct SegmentDecoder: Sendable {
  private var reader = JSONEventReader()
  private var rules: RuleApplication

  private let mapping: PathMapping

  init(rules: RuleApplication, mapping: PathMapping) {
    self.rules = rules
    self.mapping = mapping
  }

  /// Adds the verdict on each event of `list`, and the payloads of the good ones.
  mutating func read(
    _ list: EventList, of body: RawSpan, kind: EventKind, needsIdentity: Bool,
    receivedAt: Int64, into verdicts: inout Verdicts
  ) throws(RequestFailure) {
    let sentAt = list.sentAt.flatMap { SenderClock.time(body.extracting($0)) }
    var supplement = EventSupplement()
    supplement.kind = kind
    supplement.receivedAt = receivedAt
    supplement.clockOffset = SenderClock.offset(sentAt: sentAt, receivedAt: receivedAt)
    supplement.context = try map(list.context, body, "context")
    supplement.integrations = try map(list.integrations, body, "integrations")
    supplement.droppedField = Array("writeKey".utf8)
    for event in list.events {
      let start = verdicts.events.payloads.count
      do throws(EventRefusal) {
        try take(event, body, supplement, needsIdentity, &verdicts)
      } catch {
        verdicts.events.payloads.removeSubrange(start...)
        verdicts.refuse(
          messageId: EventList.text(of: "messageId", in: event, of: body), error)
      }
    }
  }

  /// What is to be merged into each event; empty when there is nothing.
  private func map(
    _ range: Range<Int>?, _ body: RawSpan, _ key: String
  ) throws(RequestFailure) -> [UInt8] {
    guard let range else { return [] }
    do throws(CodecError) {
      let packed = try JSONValuePacker.pack(
        body.extracting(range), depth: EventLimits.maximumContainers)
      switch packed[0] {
      case 0xC0: return []
      case 0x80...0x8F, 0xDE, 0xDF:
        guard packed.count <= EventLimits.maximumEventBytes else {
          throw CodecError(.tooLarge, at: 0)
        }
        return packed
      default: throw CodecError(.notAnObject, at: 0)
      }
    } catch {
      throw RequestFailure(
        400, "invalid_request",
        "\"\(key)\" of the batch, at byte \(range.lowerBound): \(error)")
    }
  }

  private mutating func take(
    _ event: Range<Int>, _ body: RawSpan, _ supplement: EventSupplement, _ needsIdentity: Bool,
    _ verdicts: inout Verdicts
  ) throws(EventRefusal) {
    let start = verdicts.events.payloads.count
    let topic: [UInt8]
    do throws(CodecError) {
      topic = try reader.read(
        body.extracting(event), received: supplement.receivedAt ?? 0, adding: supplement,
        into: &verdicts.events.payloads)
    } catch {
      throw EventRefusal(error)
    }
    let event = try PayloadChecks.finish(
      topic, &verdicts.events.payloads, from: start, needsIdentity: needsIdentity, mapping, &rules)
    verdicts.take(name: event.topic, messageId: event.messageId)
  }
}
