public import BusClient
public import HTTPServer
public import Primitives
public import TrackingPlan
internal import Synchronization

/// Takes events over HTTP and publishes them; a request is answered when its events are durable.
///
/// Threads: those of the server, which read requests; the producer's, on which receipts come and
/// answers leave; one that looks at deadlines. A request that waits for the bus holds none of them.
public final class Collector: Sendable {
  private let configuration: CollectorConfiguration
  private let producer: Producer
  private let shared: CollectorShared
  private let pending: PendingRequests
  private let server: Mutex<HTTPServer?>
  private let thread: Mutex<OwnedThread?>
  private let plan: PlanHolder
  private let planKeeper: PlanKeeper
  private let planThread: Mutex<OwnedThread?>
  /// The port listened on, also when 0 was asked for.
  public let port: UInt16

  /// - Parameter report: what an operator should read of the connection to the bus, on the producer's thread.
  public init(
    _ configuration: CollectorConfiguration,
    report: @escaping @Sendable (OperatorReport) -> Void = { _ in }
  ) throws(CollectorError) {
    guard
      !configuration.writeKeys.isEmpty || configuration.isOpenToAll
        || Loopback.contains(configuration.host)
    else {
      throw .needsKeys(host: configuration.host)
    }
    let shared = CollectorShared(
      deadline: configuration.busDeadline.nanoseconds, at: SystemClock.monotonic())
    let plan = PlanHolder()
    let core = CorePool(configuration, plan)
    let pending: PendingRequests
    let thread: OwnedThread
    do throws(SystemError) {
      pending = try PendingRequests()
      thread = try pending.start()
    } catch {
      throw .system(text: error.description)
    }
    let producer: Producer
    do throws(BusClientError) {
      producer = try Producer(Self.producer(configuration, shared, pending, report))
    } catch {
      pending.stop()
      throw .bus(text: error.description)
    }
    let work = RequestWork(
      producer: producer, core: core, shared: shared, pending: pending,
      deadline: configuration.busDeadline.nanoseconds,
      maximumBodyBytes: configuration.maximumBodyBytes,
      plan: PlanAnswer(holder: plan, pending: pending))
    let keeper = PlanKeeper(
      plan, producer: producer, address: configuration.bus,
      directory: configuration.planDirectory, interval: configuration.planInterval.nanoseconds,
      onTrouble: configuration.onPlanTrouble)
    let planThread: OwnedThread
    do throws(SystemError) {
      planThread = try keeper.start()
    } catch {
      pending.stop()
      throw .system(text: error.description)
    }
    let server: HTTPServer
    do throws(HTTPServerError) {
      server = try HTTPServer(
        host: configuration.host, port: configuration.port,
        limits: Self.limits(configuration), identity: configuration.identity,
        onFull: configuration.onFull, answering: { work.handle($0, $1) })
    } catch {
      keeper.stop()
      pending.stop()
      throw .server(error)
    }
    self.configuration = configuration
    self.producer = producer
    self.shared = shared
    self.pending = pending
    self.server = Mutex(server)
    self.thread = Mutex(thread)
    self.plan = plan
    planKeeper = keeper
    self.planThread = Mutex(planThread)
    port = server.port
  }

  /// Takes no more requests, answers those under way, and waits for the bus; all within the grace.
  public func stop() -> FlushResult {
    let deadline = SystemClock.monotonic() + configuration.grace.nanoseconds
    planKeeper.stop()
    plan.endWaiting()
    server.withLock { $0.take() }?.stop()
    let left = max(0, deadline - SystemClock.monotonic())
    let result = producer.closeBlocking(deadline: .nanoseconds(left))
    pending.stop()
    thread.withLock { $0.take() }?.join()
    planThread.withLock { $0.take() }?.join()
    return result
  }

  public var metrics: CollectorMetrics {
    var metrics = shared.metrics(at: SystemClock.monotonic())
    // Who waits for another plan does not wait for the bus.
    metrics.waiting = max(0, pending.count - plan.waiting)
    metrics.plan = plan.metrics
    return metrics
  }

  /// Raw paths that the plan in force does not map, the most frequent first.
  public func unmappedPaths(_ limit: Int) -> [UnmappedPaths.Count] { plan.unmapped(limit) }

  public var serverCounters: HTTPServerCounters {
    server.withLock { $0?.counters ?? HTTPServerCounters() }
  }

  /// The connection to the bus, for people.
  public var link: BusLink { producer.link }

  public var producerCounters: ProducerCounters { producer.counters }

  /// Why the producer can do no more, if so: nothing is stored any longer.
  public var failure: BusClientError? { producer.failure }

  private static func limits(_ configuration: CollectorConfiguration) -> HTTPLimits {
    HTTPLimits(
      connections: configuration.connections, idleSeconds: configuration.clientSeconds,
      bodyBytes: configuration.maximumBodyBytes,
      headBytes: 32 << 10,
      // Half of the grace, so that the bus has the other half.
      drainMilliseconds: Int(min(600_000, configuration.grace.nanoseconds / 2_000_000)),
      stepSeconds: configuration.clientSeconds,
      allBodiesBytes: max(64 << 20, 2 * configuration.maximumBodyBytes),
      connectionsPerAddress: configuration.connectionsPerAddress, threads: configuration.threads)
  }

  private static func producer(
    _ configuration: CollectorConfiguration, _ shared: CollectorShared,
    _ pending: PendingRequests, _ report: @escaping @Sendable (OperatorReport) -> Void
  ) -> ProducerConfiguration {
    var producer = ProducerConfiguration(address: configuration.bus, client: "eventbus collector")
    // A request that finds no room is told so; nobody waits on a thread of the server.
    producer.overflow = .throw
    producer.maximumBytes = configuration.maximumPendingBytes
    producer.onNotice = { notice in
      let now = SystemClock.monotonic()
      shared.take(notice, at: now)
      // A full disk is seldom empty a moment later; an overload is over by then.
      if case .refusedForNow(let code, _) = notice, code != "OVERLOAD" {
        pending.shorten(to: now + 1_000_000_000)
      }
    }
    producer.onReport = report
    producer.onAcknowledged = { _ in shared.acknowledged() }
    return producer
  }
}

/// One core for each thread that needs one at the same time.
final class CorePool: Sendable {
  private let idle = Mutex<[CollectorCore]>([])
  private let make: @Sendable () -> CollectorCore

  init(_ configuration: CollectorConfiguration, _ plan: PlanHolder) {
    let keys = WriteKeys(configuration.writeKeys)
    let (bytes, rules) = (configuration.maximumBodyBytes, configuration.rules)
    make = { CollectorCore(keys: keys, maximumBodyBytes: bytes, rules: rules, plan: plan) }
  }

  func with<R, E: Error>(_ body: (inout CollectorCore) throws(E) -> R) throws(E) -> R {
    var core = idle.withLock { $0.popLast() } ?? make()
    defer { idle.withLock { $0.append(core) } }
    return try body(&core)
  }
}
