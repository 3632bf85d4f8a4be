internal import EventModel
internal import Primitives

/// A plan as it is distributed: its compact text, and what tells it from others.
public struct PublishedPlan: Hashable, Sendable {
  /// What the text says.
  public let document: PlanDocument
  /// JSON without blanks, only what apps need: the version and the collection.
  public let bytes: [UInt8]
  /// The version and a checksum of the text: for `ETag` and for telling two plans of one version apart.
  public let tag: String

  /// - Throws: when the plan is larger than ``PlanLimits/maximumBytes``.
  public init(_ plan: PlanDocument) throws(PlanError) {
    let bytes = plan.compactForApps
    // What reads back is what is distributed, so that both sides have the same.
    self = try PublishedPlan(bytes: bytes)
  }

  /// Reads a plan that was distributed.
  public init(bytes: [UInt8]) throws(PlanError) {
    let plan = try PlanDocument(parsing: bytes)
    document = plan
    self.bytes = bytes
    tag = Self.tag(version: plan.version, bytes)
  }

  static func tag(version: Int, _ bytes: [UInt8]) -> String {
    let code = unsafe CRC32C.checksum(bytes.span.bytes)
    let text = String(code, radix: 16)
    return "\(version)-\(String(repeating: "0", count: 8 - text.utf8.count))\(text)"
  }
}
