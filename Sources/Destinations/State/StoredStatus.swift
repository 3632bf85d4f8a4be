public import Database
public import Primitives
public import SinkState

/// What a destination's state file says of it, read beside its publisher or without one.
public struct StoredStatus: Sendable {
  public var folder: DestinationFolder
  /// Whether its publisher runs; what follows is as old as `writtenAt` otherwise.
  public var isRunning: Bool
  /// The rest is nil or empty for a publisher that never came so far.
  public var writtenAt: Timestamp?
  public var state = ""
  public var reason = ""
  public var waiting: UInt64 = 0
  public var oldest: Timestamp?
  public var lag: UInt64 = 0
  public var rate = 0.0
  /// What its /status gave.
  public var json = ""
  public var letters: DeadLetters.Totals
  public var progress: SinkProgress?

  public init(_ folder: DestinationFolder) throws(DatabaseError) {
    self.folder = folder
    isRunning = folder.isInUse
    let database = try StateSchema.openReadOnly(folder.stateFile)
    letters = try DeadLetters.totals(database)
    progress = try SinkTables.load(database)
    let row = try database.prepare(
      "SELECT time, state, reason, waiting, oldest, lag, rate, json FROM status")
    guard try row.step() else { return }
    writtenAt = Timestamp(nanoseconds: row.integer(0))
    state = row.text(1)
    reason = row.text(2)
    waiting = try row.count(3)
    oldest = row.isNull(4) ? nil : Timestamp(nanoseconds: row.integer(4))
    lag = try row.count(5)
    rate = row.double(6)
    json = row.text(7)
  }
}
