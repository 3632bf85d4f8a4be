internal import Primitives

// From a stamped event to the providers, through the plugins.
extension AnalyticsService {
  func refuse(_ reason: String) {
    counts.tracked += 1
    counts.refused += 1
    counts.lastRefusal = reason
  }

  /// Without plugins: all providers get the same bytes.
  func deliver(_ event: StampedEvent) {
    counts.tracked += 1
    counts.delivered += 1
    for provider in providers { provider.deliver(event) }
  }

  func process(_ event: EventEnvelope, _ enrich: (@Sendable (EventEnvelope) -> EventEnvelope?)?) {
    guard let before = plugins.run(.before, event),
      let enriched = plugins.run(.enrichment, before),
      let own = enrich.map({ $0(enriched) }) ?? enriched
    else {
      counts.tracked += 1
      counts.dropped += 1
      return
    }
    do throws(EventEncodingError) {
      let stamped = try StampedEvent(own)
      counts.tracked += 1
      counts.delivered += 1
      for provider in providers { deliver(own, stamped, to: provider) }
      _ = plugins.run(.after, own)
    } catch {
      refuse("\(own.topic): \(error)")
    }
  }

  private func deliver(
    _ event: EventEnvelope, _ stamped: StampedEvent, to provider: any AnalyticsProvider
  ) {
    let stage = AnalyticsPluginStage.destination(provider.name)
    guard plugins.has(stage) else { return provider.deliver(stamped) }
    guard let changed = plugins.run(stage, event) else { return }
    do throws(EventEncodingError) {
      provider.deliver(try StampedEvent(changed))
    } catch {
      counts.lastRefusal = "\(provider.name): \(changed.topic): \(error)"
    }
  }
}
