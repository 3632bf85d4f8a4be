internal import BusProtocol
internal import EventModel
internal import Primitives

/// Which names a subscriber gets, ready to match. No filter means all.
///
/// Verdicts are remembered by name, so that a glob is run once a name and a look-up of about 15 ns
/// remains; at most `maximumRemembered` of them, then the memory starts again.
struct SubscriptionFilter: Sendable {
  static let maximumRemembered = 10_000

  let filters: [NameFilter]
  private let patterns: [EventPattern]
  private var remembered = ByteInterner()
  private var verdicts: [Bool] = []

  init(_ filters: [NameFilter]) {
    self.filters = filters
    patterns = filters.map { filter in
      switch filter.kind {
      case .exact: EventPattern(exact: filter.text)
      case .prefix: EventPattern(prefix: filter.text)
      case .glob: EventPattern(glob: filter.text)
      }
    }
  }

  var matchesAll: Bool { patterns.isEmpty }

  mutating func matches(_ name: RawSpan) -> Bool {
    if matchesAll { return true }
    if let id = remembered.find(name) { return verdicts[id] }
    var verdict = false
    for pattern in patterns where pattern.matches(name) {
      verdict = true
      break
    }
    if remembered.count >= Self.maximumRemembered {
      remembered.removeAll()
      verdicts.removeAll(keepingCapacity: true)
    }
    _ = remembered.intern(name)
    verdicts.append(verdict)
    return verdict
  }
}
