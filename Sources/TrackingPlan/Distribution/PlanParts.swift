// A plan on the bus: 1 to 32 events named `$plan`, in order, of one batch. Properties of each:
//
//   version   integer   the plan's
//   tag       string    "VERSION-CHECKSUM": equal for all parts of one plan
//   part      integer   from 1
//   parts     integer   how many there are
//   text      string    a piece of the plan's compact JSON; all pieces together are the whole
//
// Who reads takes the plan with the highest version of all that are whole and right; the first of two
// with one version stays. So it does not matter that the collector publishes the plan anew now and then,
// which keeps it from leaving the journal with old segments.
public import EventModel

extension PublishedPlan {
  /// The name of the events that carry a plan. The collector takes none from outside.
  public static let eventName: EventType = "$plan"
  /// Bytes of one piece, well below what an event may have.
  public static let partBytes = 96 << 10
  static let maximumParts = 32

  /// The events that publish it.
  public var events: [AnalyticsEvent] {
    let parts = Self.pieces(bytes)
    return parts.enumerated().map { number, text in
      AnalyticsEvent(
        Self.eventName,
        properties: [
          "version": .int(Int64(document.version)), "tag": .string(tag),
          "part": .int(Int64(number + 1)), "parts": .int(Int64(parts.count)),
          "text": .string(text),
        ])
    }
  }

  /// Cut between characters.
  private static func pieces(_ bytes: [UInt8]) -> [String] {
    var pieces: [String] = []
    var start = 0
    while start < bytes.count {
      var end = min(start + partBytes, bytes.count)
      // A byte of the form 10xxxxxx is inside of a character.
      while end < bytes.count, bytes[end] & 0xC0 == 0x80 { end -= 1 }
      pieces.append(String(decoding: bytes[start..<end], as: UTF8.self))
      start = end
    }
    return pieces
  }
}

/// Puts plans together from the events that carry them, and knows which one counts.
public struct PlanFeed: Sendable {
  /// What an event did.
  public enum Outcome: Hashable, Sendable {
    /// A piece; others are missing yet.
    case partial
    /// A plan that counts from now on.
    case replaced(PublishedPlan)
    /// The plan that counts already, once more.
    case repeated
    /// A plan with a version that is not higher: passed over.
    case older(tag: String)
    /// No plan, or a broken one.
    case refused(String)
  }

  /// Plans of which some pieces are there; the one begun longest ago goes when there are more.
  private static let maximumPending = 4

  private struct Pending: Sendable {
    var tag: String
    var parts: [String?]
  }

  private var pending: [Pending] = []
  public private(set) var current: PublishedPlan?

  /// - Parameter current: what is known already, as from a file.
  public init(current: PublishedPlan? = nil) { self.current = current }

  /// Takes a plan that came whole, as from a file or by HTTP.
  public mutating func take(_ plan: PublishedPlan) -> Outcome {
    if let current {
      if current.tag == plan.tag { return .repeated }
      if current.document.version >= plan.document.version { return .older(tag: plan.tag) }
    }
    current = plan
    return .replaced(plan)
  }

  /// Takes the properties of one event.
  public mutating func take(_ properties: PropertyObject?) -> Outcome {
    guard let properties, let tag = properties["tag"]?.stringValue,
      let part = properties["part"]?.intValue, let parts = properties["parts"]?.intValue,
      let text = properties["text"]?.stringValue
    else { return .refused("an event $plan without tag, part, parts and text") }
    guard 1...Int64(PublishedPlan.maximumParts) ~= parts, 1...parts ~= part,
      text.utf8.count <= PublishedPlan.partBytes, tag.utf8.count <= 40
    else { return .refused("an event $plan with impossible parts: \(part) of \(parts)") }
    if let current, current.tag.utf8.elementsEqual(tag.utf8) { return .repeated }
    guard let whole = add(text, part: Int(part) - 1, of: Int(parts), tag) else { return .partial }
    do throws(PlanError) {
      let plan = try PublishedPlan(bytes: Array(whole.utf8))
      guard plan.tag.utf8.elementsEqual(tag.utf8) else {
        return .refused("the pieces of plan \(tag) are \(plan.tag) together")
      }
      return take(plan)
    } catch {
      return .refused("plan \(tag): \(error)")
    }
  }

  /// The whole text, once all pieces are there.
  private mutating func add(_ text: String, part: Int, of parts: Int, _ tag: String) -> String? {
    var number = pending.firstIndex { $0.tag.utf8.elementsEqual(tag.utf8) }
    if let known = number, pending[known].parts.count != parts {
      pending.remove(at: known)
      number = nil
    }
    if number == nil {
      if pending.count == Self.maximumPending { pending.removeFirst() }
      pending.append(Pending(tag: tag, parts: Array(repeating: nil, count: parts)))
      number = pending.count - 1
    }
    guard let number else { return nil }
    pending[number].parts[part] = text
    guard pending[number].parts.allSatisfy({ $0 != nil }) else { return nil }
    return pending.remove(at: number).parts.compactMap(\.self).joined()
  }
}
