internal import Synchronization

/// The bus of the program: set once, where it starts, so that a call site needs one line.
public enum EventBus {
  private static let current = Mutex<(any EventPublishing)?>(nil)

  /// Sets the bus that `publish()` uses. Traps when one was set: two would split the events.
  public static func bootstrap(_ bus: some EventPublishing) {
    current.withLock { current in
      precondition(current == nil, "EventBus.bootstrap is called once a program")
      current = bus
    }
  }

  /// Makes a producer for the address, sets it, and returns it, so that the program can close it.
  @discardableResult
  public static func bootstrap(
    address: String, client: String, security: BusSecurity? = .ofProcess
  ) throws(BusClientError) -> Producer {
    var configuration = ProducerConfiguration(address: address, client: client)
    configuration.security = security
    let producer = try Producer(configuration)
    bootstrap(producer)
    return producer
  }

  static func bus() throws(BusClientError) -> any EventPublishing {
    guard let bus = current.withLock({ $0 }) else {
      throw .configuration(text: "no bus: call EventBus.bootstrap where the program starts")
    }
    return bus
  }
}
