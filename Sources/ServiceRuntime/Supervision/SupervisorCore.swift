internal import Primitives

/// Decides which services to start, restart and stop. Pure: told what happened and when, it returns
/// what to do.
///
/// A service starts once all in its `after` have been ready at least once; a dependency that
/// restarts later does not restart those that need it, since clients of the bus reconnect. Stopping
/// goes in reverse order of the list: each waits for all later ones to have ended.
public struct SupervisorCore: Sendable {
  public enum State: Hashable, Sendable {
    /// Waits for services it needs.
    case waiting
    case starting(deadline: Int64)
    case ready(since: Int64)
    case backingOff(until: Int64)
    /// Asked to end; killed at the deadline.
    case stopping(deadline: Int64)
    case stopped
  }

  public enum Action: Hashable, Sendable {
    case start(Int)
    /// SIGTERM.
    case terminate(Int)
    /// SIGKILL.
    case kill(Int)
    /// All services that are not abandoned are ready, for the first time.
    case allReady
    /// A required service failed `maximumFailures` times, or for good; everything is being stopped.
    case giveUp(Int)
    /// The same of one that is not required: it stays ended, the others go on.
    case abandon(Int)
    /// All have ended after `stop`, `killAll` or giving up.
    case finished
  }

  struct Service {
    var state = State.waiting
    var failures = 0
    var hasBeenReady = false
  }

  public let specifications: [ServiceSpecification]
  public let policy: RestartPolicy
  private var services: [Service]
  private var isStopping = false
  private var isFinished = false
  private var wasAllReady = false
  /// What the service that everything was given up for ended with.
  public private(set) var fatalStatus: Int32?
  private var actions: [Action] = []

  /// Traps on names that are not unique and on an `after` that names no earlier service.
  public init(_ specifications: [ServiceSpecification], policy: RestartPolicy = RestartPolicy()) {
    var earlier: Set<String> = []
    for specification in specifications {
      precondition(
        earlier.isSuperset(of: specification.after),
        "\(specification.name) must come after what it needs")
      precondition(
        earlier.insert(specification.name).inserted, "two services named \(specification.name)")
    }
    self.specifications = specifications
    self.policy = policy
    services = specifications.map { _ in Service() }
  }

  public func state(_ index: Int) -> State { services[index].state }

  /// When `tick` must be called next; nil when only a child or a signal can bring news.
  public var nextDeadline: Int64? {
    services.compactMap { service in
      switch service.state {
      case .starting(let time), .backingOff(let time), .stopping(let time): time
      case .waiting, .ready, .stopped: nil
      }
    }.min()
  }

  /// Starts what can start. Call once at the beginning, then whenever `nextDeadline` has passed.
  public mutating func tick(at now: Int64) -> [Action] {
    for index in services.indices {
      switch services[index].state {
      case .starting(let deadline) where now >= deadline:
        // The exit that follows counts as the failure.
        services[index].state = .stopping(deadline: .max)
        actions.append(.kill(index))
      case .backingOff(let time) where now >= time:
        start(index, at: now)
      case .stopping(let deadline) where now >= deadline:
        services[index].state = .stopping(deadline: .max)
        actions.append(.kill(index))
      default: break
      }
    }
    return settle(at: now)
  }

  /// The child wrote its ready line.
  public mutating func becameReady(_ index: Int, at now: Int64) -> [Action] {
    guard case .starting = services[index].state else { return [] }
    services[index].state = .ready(since: now)
    services[index].hasBeenReady = true
    return settle(at: now)
  }

  /// The child has ended, whatever the way, or could not be started. `status`: its exit status.
  ///
  /// - Parameter isFinal: it said that another start would end as this one, which is believed of the first.
  public mutating func exited(
    _ index: Int, status: Int32 = 1, isFinal: Bool = false, at now: Int64
  ) -> [Action] {
    if isStopping {
      services[index].state = .stopped
      return settle(at: now)
    }
    if case .ready(let since) = services[index].state,
      now - since >= policy.healthyAfter.nanoseconds
    {
      services[index].failures = 0
    }
    services[index].failures += 1
    let isHopeless = policy.isFinal(status) || (isFinal && !services[index].hasBeenReady)
    if services[index].failures >= policy.maximumFailures || isHopeless {
      services[index].state = .stopped
      if specifications[index].isRequired {
        fatalStatus = status
        isStopping = true
        actions.append(.giveUp(index))
      } else {
        actions.append(.abandon(index))
      }
    } else {
      let wait = policy.backoff(afterFailures: services[index].failures)
      services[index].state = .backingOff(until: now + wait)
    }
    return settle(at: now)
  }

  /// Ends everything in order.
  public mutating func stop(at now: Int64) -> [Action] {
    isStopping = true
    return settle(at: now)
  }

  /// Ends everything at once.
  public mutating func killAll(at now: Int64) -> [Action] {
    isStopping = true
    for index in services.indices {
      switch services[index].state {
      case .starting, .ready, .stopping:
        services[index].state = .stopping(deadline: .max)
        actions.append(.kill(index))
      case .waiting, .backingOff: services[index].state = .stopped
      case .stopped: break
      }
    }
    return settle(at: now)
  }

  private mutating func settle(at now: Int64) -> [Action] {
    if isStopping { stopNext(at: now) } else { startWaiting(at: now) }
    defer { actions.removeAll() }
    return actions
  }

  private mutating func startWaiting(at now: Int64) {
    for index in services.indices where services[index].state == .waiting {
      let needed = Set(specifications[index].after)
      let isFree = zip(specifications, services).allSatisfy { specification, service in
        !needed.contains(specification.name) || service.hasBeenReady
      }
      if isFree { start(index, at: now) }
    }
    let areAllReady = services.allSatisfy {
      switch $0.state {
      case .ready, .stopped: true
      case .waiting, .starting, .backingOff, .stopping: false
      }
    }
    if areAllReady, !wasAllReady {
      wasAllReady = true
      actions.append(.allReady)
    }
  }

  private mutating func start(_ index: Int, at now: Int64) {
    let deadline = now + specifications[index].readyDeadline.nanoseconds
    services[index].state = .starting(deadline: deadline)
    actions.append(.start(index))
  }

  /// From the last service to the first; stops at the first that still has to end.
  private mutating func stopNext(at now: Int64) {
    for index in services.indices.reversed() {
      switch services[index].state {
      case .stopped: continue
      case .waiting, .backingOff: services[index].state = .stopped
      case .stopping: return
      case .starting, .ready:
        let deadline = now + specifications[index].grace.nanoseconds
        services[index].state = .stopping(deadline: deadline)
        actions.append(.terminate(index))
        return
      }
    }
    if !isFinished {
      isFinished = true
      actions.append(.finished)
    }
  }
}
