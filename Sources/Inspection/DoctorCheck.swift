/// One thing that was looked at.
public struct DoctorCheck: Hashable, Sendable {
  public enum Outcome: String, Sendable {
    case ok
    /// Worth knowing; nothing is wrong.
    case note
    /// Something must be done.
    case failed = "fail"
    /// Events are lost or cannot be accounted for.
    case unaccounted
    /// Could not be looked at, because something else is down.
    case skipped
  }

  /// A stable word for scripts: `broker`, `ledger archiver`.
  public var name: String
  public var outcome: Outcome
  /// What was found, in one line.
  public var finding: String
  /// What to do; empty when there is nothing to do.
  public var advice: String

  public init(_ name: String, _ outcome: Outcome, _ finding: String, advice: String = "") {
    self.name = name
    self.outcome = outcome
    self.finding = finding
    self.advice = advice
  }

  public var isFailure: Bool { outcome == .failed || outcome == .unaccounted }
}
