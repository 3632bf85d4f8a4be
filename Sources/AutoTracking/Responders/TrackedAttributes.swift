internal import EventModel

/// What an app has said about single responders, beside them: parameters, and how much may be told.
///
/// Kept by the object's identity and without keeping it alive. Entries of objects that are gone are taken
/// out when there are twice as many as after the last time.
@MainActor
final class TrackedAttributes {
  struct Attributes {
    var parameters: [EventPath.State] = []
    /// Nil: as is usual for such a responder.
    var privacy: TrackedPrivacy?
    /// What must live as long as the responder does.
    var companion: AnyObject?

    var isEmpty: Bool { parameters.isEmpty && privacy == nil && companion == nil }
  }

  private struct Entry {
    weak var owner: AnyObject?
    var attributes: Attributes
  }

  static let shared = TrackedAttributes()

  private var entries: [ObjectIdentifier: Entry] = [:]
  private var limit = 64

  init() {}

  /// Entries there are, those of objects that are gone included.
  var count: Int { entries.count }

  subscript(owner: AnyObject) -> Attributes {
    get {
      // An address is used again: the entry of another object that had it does not count.
      guard let entry = entries[ObjectIdentifier(owner)], entry.owner === owner else {
        return Attributes()
      }
      return entry.attributes
    }
    set {
      if newValue.isEmpty {
        entries[ObjectIdentifier(owner)] = nil
        return
      }
      if entries.count >= limit { prune() }
      entries[ObjectIdentifier(owner)] = Entry(owner: owner, attributes: newValue)
    }
  }

  private func prune() {
    entries = entries.filter { $0.value.owner != nil }
    limit = max(64, 2 * entries.count)
  }
}
