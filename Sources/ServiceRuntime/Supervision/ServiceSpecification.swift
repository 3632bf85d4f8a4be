internal import Primitives

/// A child process that `eventbus up` keeps running, as data.
public struct ServiceSpecification: Hashable, Sendable {
  /// Unique among the services; prefixes the child's log lines.
  public var name: String
  /// Path of the program, and its arguments without the program's name.
  public var program: String
  public var arguments: [String]
  /// Added to the supervisor's own environment.
  public var environment: [String: String]
  /// Names of services that must be ready before this one starts; all earlier in the list.
  public var after: [String]
  /// Whether the others are of no use without it. One that is not is left alone when it keeps failing.
  public var isRequired: Bool
  /// Whether SIGTERM waits from the first moment on until the program takes it: for programs that call
  /// `SignalSource.hold` at the start of `main`. Until there any other is killed by it.
  public var holdsSignals: Bool
  /// How long it may take to its ready line; then it is killed and started again.
  public var readyDeadline: Duration
  /// How long it may take to end after SIGTERM; then SIGKILL.
  public var grace: Duration

  public init(
    name: String, program: String, arguments: [String], environment: [String: String] = [:],
    after: [String] = [], isRequired: Bool = true, holdsSignals: Bool = false,
    readyDeadline: Duration = .seconds(30), grace: Duration = .seconds(10)
  ) {
    self.name = name
    self.program = program
    self.arguments = arguments
    self.environment = environment
    self.after = after
    self.isRequired = isRequired
    self.holdsSignals = holdsSignals
    self.readyDeadline = readyDeadline
    self.grace = grace
  }
}

/// When a service that ended is started again, and when no more.
public struct RestartPolicy: Hashable, Sendable {
  /// The wait before the first restart; doubled for each further one up to `maximumBackoff`.
  public var firstBackoff: Duration
  public var maximumBackoff: Duration
  /// A run that stayed ready this long counts as healthy: the failures before it are forgotten. So what works
  /// between its failures is started again for ever, and what never does is not.
  public var healthyAfter: Duration
  /// After this many failed runs without a healthy one between them, the supervisor gives up. For a required
  /// service it stops everything: half a system that looks like a whole one is worse than none.
  public var maximumFailures: Int

  public init(
    firstBackoff: Duration = .milliseconds(200), maximumBackoff: Duration = .seconds(10),
    healthyAfter: Duration = .seconds(10), maximumFailures: Int = 8
  ) {
    self.firstBackoff = firstBackoff
    self.maximumBackoff = maximumBackoff
    self.healthyAfter = healthyAfter
    self.maximumFailures = maximumFailures
  }

  /// Whether another run would end the same way: wrong usage, a directory that another process has.
  func isFinal(_ status: Int32) -> Bool {
    status == ExitCode.usage.rawValue || status == ExitCode.dataDirectoryInUse.rawValue
  }

  /// The wait after the `failures`th failure in a row, from 1.
  func backoff(afterFailures failures: Int) -> Int64 {
    // 20 doublings of up to two hours still fit 64 bits; the maximum applies long before.
    let doubling = min(max(failures - 1, 0), 20)
    return min(firstBackoff.nanoseconds << doubling, maximumBackoff.nanoseconds)
  }
}
