public import Primitives
internal import Synchronization

/// A publisher: takes events from the bus and delivers them to one destination, until it is stopped.
///
/// Two threads of its own: one prepares events, one decides, sends and stores. Everything may be called
/// from any thread.
public final class DeliveryProcess: Sendable {
  let shared: DeliveryShared
  private let thread: Mutex<OwnedThread?>

  /// Opens the destination's folder and begins; does not wait for the bus.
  ///
  /// - Parameters:
  ///   - describe: the JSON that is stored for those who look into the folder.
  ///   - report: called on the delivering thread; must return soon.
  public init<Adapter: DestinationAdapter>(
    _ adapter: Adapter, _ configuration: DeliveryProcessConfiguration,
    describe: @escaping @Sendable (DeliveryStatus) -> String,
    report: @escaping @Sendable (OperatorReport) -> Void
  ) throws(DeliveryFailure) {
    do throws(SystemError) {
      let shared = try DeliveryShared(
        DeliveryStatus(name: configuration.name, route: adapter.route), describe, report)
      let thread = try OwnedThread(name: "eb-delivery") {
        DeliveryLoop.run(adapter, configuration, shared)
        shared.finish()
      }
      // Its folder is opened by the thread that owns it; one that cannot be used is told at once.
      shared.waitUntilStarted()
      self.shared = shared
      self.thread = Mutex(thread)
    } catch { throw .system("\(error)") }
    if let failure {
      join()
      throw failure
    }
  }

  public var status: DeliveryStatus { shared.status }

  /// Why it ended by itself; nil while it runs and after `stop`.
  public var failure: DeliveryFailure? { shared.failure }

  /// Waits until the bus answered: from then on nothing is missed. False at the deadline. Blocks.
  public func waitUntilOpened(deadline: Duration) -> Bool { shared.waitUntilOpened(deadline) }

  /// Finishes what is under way and ends. Returns at once.
  public func stop() { shared.stop() }

  /// Waits until it has ended; call it once. Blocks.
  public func join() { thread.withLock { $0.take() }?.join() }
}
