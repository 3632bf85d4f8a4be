/// The fields of the envelope that have a meaning here, in canonical order. All others are kept after
/// them, in the order in which they came.
public enum EnvelopeField: Int, Sendable, Hashable, CaseIterable {
  case type, event, messageId, userId, anonymousId, timestamp, originalTimestamp
  /// Why `timestamp` is the receive time: "unreadable". Absent from nearly all events.
  case timestampFlag
  case sentAt, receivedAt, properties, traits, context, integrations
  case name, category, groupId, previousId
}
