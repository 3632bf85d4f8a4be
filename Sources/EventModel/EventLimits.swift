/// What one event may be, at every entrance alike. The same numbers hold for JSON and for MessagePack.
public enum EventLimits {
  /// Bytes of one encoded event, unless a part is set to other limits.
  public static let maximumEventBytes = 256 << 10
  /// Objects and lists within each other inside one field of the envelope, such as `properties`; neither
  /// the envelope nor the field's own object counts.
  public static let maximumDepth = 32
  /// The same counted from the field's own object on: it, and what is within.
  public static let maximumContainers = maximumDepth + 1
}
