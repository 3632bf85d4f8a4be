internal import BusProtocol
internal import BusClient
internal import Database
internal import Primitives
internal import SinkState

/// When the status was made and stored.
struct StatusPublishing {
  var progress: SinkProgress?
  var next: Int64 = 0
  var nextStore: Int64 = 0
  var lastWord = ""
  var rate = DeliveryRate()

  /// Between two looks at oneself.
  static let interval: Int64 = 500_000_000
  /// Between two writes into the state file, unless the state changed.
  static let storeInterval: Int64 = 5_000_000_000
}

/// What a person sees: the log, and the status.
extension DeliveryLoop {
  func report(_ notices: [String]) {
    for notice in notices { shared.report(.init(.error, "state_damaged", notice)) }
  }

  func report(_ report: DeliveryReport) { shared.report(DeliveryText.notice(report)) }

  mutating func publishStatus(at now: Int64) {
    let word = state(at: now).word
    guard now >= publishing.next || word != publishing.lastWord else { return }
    publishing.next = now + StatusPublishing.interval
    let status = status(at: now)
    shared.status = status
    guard now >= publishing.nextStore || word != publishing.lastWord else { return }
    publishing.lastWord = word
    publishing.nextStore = now + StatusPublishing.storeInterval
    do throws(DatabaseError) {
      try store.writeStatus(status, json: shared.describe(status), at: Timestamp.now())
    } catch {
      // What is settled is stored by the same file: that says what is wrong with it.
    }
  }

  private func state(at now: Int64) -> DeliveryState {
    if let failure = saving.failure { return .storeError(failure) }
    return core.state(at: now)
  }

  private mutating func status(at now: Int64) -> DeliveryStatus {
    var status = shared.status
    status.state = state(at: now)
    status.nextTry = status.state.until.map { .nanoseconds(max(0, $0 - now)) }
    status.waitingEvents = core.waitingEvents
    status.waitingBytes = core.waitingBytes
    status.heldUsers = core.heldUsers
    status.requestsUnderWay = core.requestCount
    status.oldestWaiting = core.oldestWaiting
    status.counts = core.counts
    status.rate = publishing.rate.add(core.counts.delivered, at: now)
    status.progress = publishing.progress ?? status.progress
    if let error = core.lastError {
      status.lastError = error.text
      status.lastErrorAt = Timestamp(
        nanoseconds: SystemClock.realtime() - (SystemClock.monotonic() - error.at))
    }
    let bus = subscriber.status
    status.isConnected = bus.isConnected
    status.link = bus.link
    status.gaps = bus.gaps
    let cursor = status.progress?.cursor.offset ?? bus.opened?.cursor.offset ?? bus.head
    status.lag = bus.head > cursor ? bus.head - cursor : 0
    do throws(DatabaseError) { status.letters = try store.letterTotals() } catch {
      // As above.
    }
    return status
  }
}

/// The engine's reports as lines of a log.
enum DeliveryText {
  static func notice(_ report: DeliveryReport) -> OperatorReport {
    switch report {
    case .retrying(let reason, let wait):
      .init(.warning, "retrying", "\(reason); next try in \(seconds(wait))")
    case .pausing(let reason, let wait):
      .init(.warning, "pausing", "\(reason); no request for \(seconds(wait))")
    case .misconfigured(let reason, let wait):
      .init(
        .error, "configuration",
        "\(reason): check the key and the address; events are kept, next try in \(seconds(wait))")
    case .recovered: .init(.info, "recovered", "events get through again")
    case .refused(let count, let reason):
      .init(
        .warning, "dead_letters",
        "\(count) \(count == 1 ? "event is a dead letter" : "events are dead letters") now: \(reason)"
      )
    case .unproven(let reason):
      .init(
        .warning, "unproven",
        "\(reason): its events count as delivered, and as unproven, here and whenever that is so again"
      )
    case .splitting(let count, let reason):
      .init(
        .info, "splitting",
        "a request of \(count.counted("event")) was refused and is halved: \(reason)")
    case .holding(let users, let reason, let wait):
      .init(
        .info, "holding",
        "\(users.counted("user waits", "users wait")) for \(seconds(wait)): \(reason)")
    case .suspecting(let reason):
      .init(.warning, "suspect", "an event fails alone and is set aside for now: \(reason)")
    }
  }

  static func seconds(_ duration: Duration) -> String {
    let tenths = (duration.nanoseconds + 50_000_000) / 100_000_000
    return "\(tenths / 10).\(tenths % 10) s"
  }
}
