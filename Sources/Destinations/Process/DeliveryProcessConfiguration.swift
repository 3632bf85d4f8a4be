public import BusClient
public import BusProtocol
public import HTTPClient

/// Where a publisher gets its events, what it keeps, and how it sends.
public struct DeliveryProcessConfiguration: Sendable {
  /// The bus.
  public var address: String
  /// The cursor's name at the bus, and of the destination's folder.
  public var name: String
  public var filters: [NameFilter] = []
  /// Whether filters other than those that the bus knows of this name are wanted.
  public var takesOtherFilters = false
  /// Where a new name begins.
  public var start = StartPosition.earliest
  public var onGap = SubscriberConfiguration.GapPolicy.continue
  /// The data directory.
  public var data: String
  /// Bytes of dead letters kept; the oldest go first.
  public var deadLetterBytes = 256 << 20
  /// Whether requests say of which bus their events are (`BusMark`): where the endpoint may be anybody's.
  public var marksRequests = false
  /// Time for what is under way when told to stop.
  public var grace: Duration = .seconds(8)
  public var delivery = DeliveryConfiguration()
  public var http = HTTPClientConfiguration()

  public init(address: String, name: String, data: String) {
    self.address = address
    self.name = name
    self.data = data
  }
}

/// Why a publisher cannot run any more.
public enum DeliveryFailure: Error, Hashable, Sendable, CustomStringConvertible {
  /// Another publisher has this destination's folder.
  case inUse(String)
  case store(DeliveryStoreError)
  case bus(BusClientError)
  case system(String)

  public var description: String {
    switch self {
    case .inUse(let text): text
    case .store(let error): "\(error)"
    case .bus(let error): "\(error)"
    case .system(let text): text
    }
  }
}
