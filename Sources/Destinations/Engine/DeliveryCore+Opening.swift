internal import Primitives

/// The request that some destinations want before any event.
extension DeliveryCore {
  /// Whether events may be prepared.
  public var isOpened: Bool { isOpen }

  /// Takes the verdict on it. It has no events, so a refusal can only mean that the configuration is
  /// wrong.
  public mutating func opened(_ verdict: DeliveryVerdict, _ reason: String, at now: Int64) {
    guard isOpening else { return }
    isOpening = false
    switch verdict {
    case .delivered, .deliveredUnproven:
      isOpen = true
      gate.succeed(gate.round)
    case .pause(let time, let reason):
      let wait = gate.pause(time?.nanoseconds, reason, at: now, using: &random)
      opening(failed: reason, .pausing(reason, wait: .nanoseconds(wait)), at: now)
    case .retry(let reason): openingFailed(reason, at: now)
    case .configuration, .partial, .refusedOnly, .split, .tooLarge, .hold:
      let wait = gate.misconfigure(
        reason, interval: configuration.probeInterval.nanoseconds, at: now, using: &random)
      opening(failed: reason, .misconfigured(reason, wait: .nanoseconds(wait)), at: now)
    }
  }

  /// It has no answer.
  public mutating func openingFailed(_ reason: String, at now: Int64) {
    isOpening = false
    let wait = gate.fail(reason, at: now, using: &random)
    opening(failed: reason, .retrying(reason, wait: .nanoseconds(wait)), at: now)
  }

  private mutating func opening(failed reason: String, _ report: DeliveryReport, at now: Int64) {
    actions.append(.report(report))
    note(reason, at: now)
  }
}
