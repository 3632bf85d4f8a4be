internal import EventModel

/// A chain as it is at the moment of an event.
@MainActor
struct ResponderChain {
  /// From the view outwards; bounded, so a chain that runs in a circle ends.
  let responders: [any TrackedResponder]
  /// The strictest of all: what is inside a masked view is masked.
  let privacy: TrackedPrivacy

  init(from first: any TrackedResponder) {
    var responders: [any TrackedResponder] = []
    var privacy = TrackedPrivacy.open
    var next: (any TrackedResponder)? = first
    while let responder = next, responders.count < EventPathLimits.maximumSegments {
      responders.append(responder)
      privacy = max(privacy, responder.trackedPrivacy)
      next = responder.nextTrackedResponder
    }
    self.responders = responders
    self.privacy = privacy
  }

  var segments: [EventPath.Segment] {
    responders.map { EventPath.Segment($0.trackedName, index: $0.trackedIndex) }
  }

  /// Where a key path begins.
  func root(_ key: String) -> (any TrackedResponder)? {
    switch key {
    case "sender": return responders.first
    case "view":
      return responders.first { [.view, .cell].contains($0.trackedRole) }
    default:
      guard let role = TrackedRole(rawValue: key) else { return nil }
      return responders.first { $0.trackedRole == role }
    }
  }
}
