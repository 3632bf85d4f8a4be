internal import Primitives

/// One line of events of which one request is under way at a time, so that they keep their order.
///
/// What is to be sent next stands in three places, in this order: `planned` (requests that were cut, or
/// cut again, and have to be made before anything else), then `queue`. Users who have to wait are in
/// `held` with all their events, in their order, and none of theirs is in `planned`.
struct Lane: Sendable {
  typealias Number = Backlog.Number

  /// The events of one request, in order. A retry carries the same ones.
  struct Cut: Sendable {
    var members: [Number]
    /// Tries that failed, and the time of the first failure.
    var tries = 0
    var failingSince: Int64?
    /// Tries whose answer began as a success and broke off.
    var halfAnswers = 0
    /// One of these is suspected of failing by itself: the next failure halves the cut.
    var isSuspect = false
    /// The one event of a hold's suspect.
    var isLone = false
    /// The provider refused a request whose other half it took, so one of these is bad: no need to ask
    /// with all of them again.
    var holdsBad = false
    /// Equal for the two halves of a refused request; 0: no half.
    var pair = 0
    /// `Gate.round` when it was sent.
    var gateRound = 0
  }

  /// How a suspect fares while it is tried alone.
  struct Trial: Sendable {
    var since: Int64 = 0
    var lastTry: Int64 = 0
    /// How long it has failed while others got through.
    var failedFor: Int64 = 0
    /// Since when it has kept everything from moving.
    var blockingSince: Int64?
    /// The next event of its user is to be sent in its place, to see whether that one gets through.
    var wantsProbe = false
    var probeGotThrough = false
  }

  /// A user who has to wait.
  struct Hold: Sendable {
    var until: Int64
    var events: [Number] = []
    /// The event of theirs that is tried alone, and whether it, or the probe, is under way.
    var suspect: Number?
    var isBeingTried = false
    var trial = Trial()
    var backoff: StepBackoff

    var firstEvent: Number { suspect ?? events.first ?? .max }
  }

  var planned: [Cut] = []
  var queue = Queue<Number>()
  var held: [UInt64: Hold] = [:]
  /// When the first of `queue` arrived, for the linger.
  var queuedSince: Int64 = 0
  /// What `queue` would weigh in a request.
  var queuedBytes = 0
  var current: Cut?
  /// Not before this time: this lane's own back-off.
  var notBefore: Int64 = 0
  var backoff: StepBackoff
  var failure: String?
  var caution = Caution()
  /// The last request was a suspect's: other work has its turn.
  var lastWasLone = false

  init(backoff: StepBackoff) { self.backoff = backoff }

  var hasWork: Bool { !planned.isEmpty || !queue.isEmpty }

  /// Takes the events of some users out of `planned`, in order.
  mutating func withdraw(_ isWithdrawn: (Number) -> Bool) -> [Number] {
    var taken: [Number] = []
    for index in planned.indices {
      taken += planned[index].members.filter(isWithdrawn)
      planned[index].members.removeAll(where: isWithdrawn)
    }
    planned.removeAll { $0.members.isEmpty }
    return taken
  }

  /// When the next hold without a suspect ends.
  var nextRelease: Int64 {
    held.values.lazy.filter { $0.suspect == nil }.map(\.until).min() ?? .max
  }

  /// When the next suspect is to be tried.
  var nextLoneTry: Int64 {
    held.values.lazy.filter { $0.suspect != nil && !$0.isBeingTried }.map(\.until).min() ?? .max
  }
}
