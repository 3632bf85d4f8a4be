internal import Primitives

/// What the broker tells of peers that take too much: each kind once a minute, with what came since.
struct BrokerWatch {
  private static let interval: Int64 = 60_000_000_000
  /// Counting files costs up to a microsecond each.
  private static let filesInterval: Int64 = 5_000_000_000
  /// Of the files that may be open, from where on it is told.
  private static let fullPercent = 80

  private var refused: UInt64 = 0
  private var refusedTold = Int64.min
  private var filesSeen = Int64.min
  private var filesTold = Int64.min

  /// - Parameter refused: live connections that were cut since the start.
  mutating func look(
    refused now: UInt64, files: () -> (open: Int, limit: Int)?, at time: Int64
  ) -> [OperatorReport] {
    var reports: [OperatorReport] = []
    if now > refused, Self.isDue(refusedTold, time) {
      reports.append(
        OperatorReport(
          .warning, "live_subscriptions",
          "ended live connections that subscribed to too much, or to what cannot be: "
            + "\(now - refused) times"))
      (refused, refusedTold) = (now, time)
    }
    guard Self.isDue(filesSeen, time, Self.filesInterval) else { return reports }
    filesSeen = time
    if let files = files(), files.open >= files.limit * Self.fullPercent / 100,
      Self.isDue(filesTold, time)
    {
      reports.append(
        OperatorReport(
          .warning, "open_files",
          "\(files.open) of \(files.limit) files are open: further connections will be refused; "
            + "find who connects so often, or raise the limit (LimitNOFILE= in systemd, ulimit -n)")
      )
      filesTold = time
    }
    return reports
  }

  private static func isDue(_ last: Int64, _ now: Int64, _ interval: Int64 = interval) -> Bool {
    last == .min || now - last >= interval || now < last
  }
}
