internal import BusProtocol
internal import EventCodec
internal import EventModel
internal import TrackingPlan

/// Gives events with a raw path their names, before the rules for properties are carried out.
struct PathMapping: Sendable {
  let holder: PlanHolder

  /// Rewrites the payload that stands from `start` on in `bytes`, if the plan says so.
  ///
  /// - Returns: the event's name from now on.
  func apply(
    _ topic: [UInt8], _ bytes: inout [UInt8], from start: Int
  ) throws(EventRefusal) -> [UInt8] {
    guard let first = topic.first, first == UInt8(ascii: "$") || first == UInt8(ascii: "#") else {
      return topic
    }
    // A write key is in every app; a plan must not come from there.
    if topic == Self.plan {
      throw EventRefusal(.forbidden, "$plan is published on the bus, by `eventbus plan publish`")
    }
    guard RawPaths.canHave(topic) else { return topic }
    var event: EventEnvelope
    do throws(CodecError) {
      event = try unsafe EventEnvelope(payload: bytes.span.bytes.extracting(start...))
    } catch {
      throw EventRefusal(error)
    }
    switch holder.map(&event) {
    case .other, .unmapped: return topic
    case .excluded:
      throw EventRefusal(.excluded, "the plan lets nothing be reported from there")
    case .mapped:
      bytes.removeSubrange(start...)
      event.appendPayload(to: &bytes)
      guard bytes.count - start <= EventLimits.maximumEventBytes else {
        throw EventRefusal(.tooLarge, "too large with the properties of the plan")
      }
      return Array(event.topic.utf8)
    }
  }

  private static let plan = Array(PublishedPlan.eventName.rawValue.utf8)
}
