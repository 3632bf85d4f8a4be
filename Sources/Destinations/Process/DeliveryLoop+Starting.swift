internal import BusProtocol
internal import BusClient
internal import Primitives
internal import SinkState

/// What a publisher opens before it runs.
extension DeliveryLoop {
  static func lock(_ folder: DestinationFolder) throws(DeliveryFailure) -> DestinationLock {
    do throws(DestinationLock.Failure) { return try DestinationLock(folder) } catch {
      switch error {
      case .inUse: throw .inUse("\(error)")
      case .system(let error): throw .store(.folder(error))
      }
    }
  }

  static func openStore(
    _ folder: DestinationFolder, _ route: String, _ configuration: DeliveryProcessConfiguration
  ) throws(DeliveryFailure) -> DeliveryStore {
    do throws(DeliveryStoreError) {
      return try DeliveryStore(
        folder, route: route, letterBytes: configuration.deadLetterBytes, now: Timestamp.now())
    } catch { throw .store(error) }
  }

  static func subscription(
    _ adapter: Adapter, _ configuration: DeliveryProcessConfiguration, _ shared: DeliveryShared,
    _ progress: SinkProgress?
  ) -> SubscriberConfiguration {
    var wanted = SubscriberConfiguration(
      address: configuration.address, client: "eventbus \(adapter.name)", name: configuration.name)
    wanted.filters = SinkFilters.obeyingForget(configuration.filters)
    wanted.reset = configuration.takesOtherFilters
    wanted.onGap = configuration.onGap
    // Its own cursor was stored with what it settled; without one, the bus's copy.
    if let progress {
      wanted.start = .position(progress.cursor)
      wanted.seekGeneration = progress.seekGeneration
    } else {
      wanted.start = .cursor(otherwise: configuration.start)
    }
    let report = shared.report
    wanted.onNotice = { notice in
      switch notice {
      case .gap(let gap): report(.init(.error, "gap", "\(gap)"))
      case .sought(let place, _):
        report(.init(.info, "sought", "an operator moved the cursor to \(place.offset)"))
      default: break
      }
    }
    wanted.onReport = report
    return wanted
  }

  /// The destination is ready for events: from now on they are prepared.
  mutating func startFeeding() {
    guard feeder == nil, core.isOpened else { return }
    let preparer = EventPreparer(adapter, forgotten: store.forgotten)
    self.preparer = preparer
    let (feed, subscriber) = (feed, subscriber)
    do throws(SystemError) {
      feeder = try OwnedThread(name: "eb-feed") { feed.run(subscriber, preparer) }
    } catch { shared.fail(.system("\(error)")) }
  }
}
