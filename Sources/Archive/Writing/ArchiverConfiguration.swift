public import BusProtocol
internal import SinkState

public struct ArchiverConfiguration: Sendable {
  /// Made if it is not there; the folder above must be.
  public var directory: String
  public var limits = RollLimits()
  /// How far back doubles are looked for, in offsets: see `Doubles`.
  public var horizon = Doubles.defaultHorizon
  /// The broker's address, the cursor's name there, and which events.
  public var address: String
  public var name = "archiver"
  public var filters: [NameFilter] = []
  /// Take other filters than those that the name has at the broker.
  public var takesOtherFilters = false
  /// Where a name that neither the broker nor the directory knows begins.
  public var start = StartPosition.earliest

  public init(directory: String, address: String) {
    self.directory = directory
    self.address = address
  }
}
