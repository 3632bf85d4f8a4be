import BusClient
import BusProtocol
import CPlatform
import LoadTest
import Primitives
import ServiceRuntime

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// One load test: measurements of a bus, one after the other.
final class BenchRun {
  private let settings: BenchSettings
  private let context: Commands.Context
  private let scratch: ScratchFolder

  init(_ settings: BenchSettings, _ context: Commands.Context, _ scratch: ScratchFolder) {
    self.settings = settings
    self.context = context
    self.scratch = scratch
  }

  func measure() throws -> BenchReport {
    let broker = settings.bus == nil ? try BenchBroker(settings, scratch, context) : nil
    defer { broker?.stop() }
    let bus = settings.bus ?? broker?.bus ?? ""
    var report = BenchReport(settings)
    report.durability = try status(bus).text("durability")
    report.isInMemory = broker != nil && ProcessFacts.isInMemory(scratch.path)
    guard let slo = settings.slo else {
      report.add(try measure(bus, broker, rate: settings.rate, giveUp: nil))
      return report
    }
    var ladder = RateLadder(start: settings.rate ?? 10_000)
    while let rate = ladder.next {
      let outcome = try measure(bus, broker, rate: rate, giveUp: .seconds(2))
      let isKept = outcome.keeps(slo)
      report.add(outcome, rate: rate, isKept: isKept)
      ladder.record(isKept: isKept)
      // What is wrong with the events is the news then, not the rate.
      guard report.verdict.isClean || settings.mode == .live else { break }
    }
    report.best = ladder.best
    return report
  }

  private func measure(
    _ bus: String, _ broker: BenchBroker?, rate: Double?, giveUp: Duration?
  ) throws -> BenchOutcome {
    let status = try status(bus)
    var worker = WorkerSettings(
      bus: bus, run: UInt64.random(in: 1...UInt64(Int64.max)), mode: settings.mode, index: 0)
    worker.producers = settings.producers
    worker.subscribers = settings.subscribers
    worker.size = settings.size
    worker.batch = settings.batch
    worker.rate = rate
    worker.events = settings.events
    worker.duration = settings.duration
    worker.warmUp = settings.warmUp
    worker.giveUpBehind = giveUp
    worker.fromOffset = status.number("durable")
    worker.isAddressed = broker == nil && settings.mode == .durable && settings.subscribers > 0
    worker.timeout = settings.timeout
    let stage = BenchStage(settings, worker, scratch, context)
    var outcome: BenchOutcome
    do {
      outcome = try settings.backlog ? stage.backlog(broker) : stage.together(broker)
    } catch {
      forgetSubscribers(worker)
      throw error
    }
    forgetSubscribers(worker)
    outcome.brokerMemory = broker.map { ProcessFacts.residentBytes(of: $0.child.id) }
    return outcome
  }

  private func status(_ bus: String) throws -> ControlMap {
    do throws(BusClientError) {
      var administration = try BusAdministration(address: bus)
      administration.deadline = settings.timeout
      return try administration.status()
    } catch {
      guard case .timedOut = error else { throw CommandFailure(.failed, "\(error)") }
      throw CommandFailure.unreachable(bus, within: settings.timeout)
    }
  }

  /// The names of the test's subscribers would hold the journal for days.
  private func forgetSubscribers(_ worker: WorkerSettings) {
    guard settings.mode == .durable, settings.subscribers > 0 else { return }
    do throws(BusClientError) {
      var administration = try BusAdministration(address: worker.bus)
      administration.deadline = .seconds(1)
      for index in 0..<settings.subscribers {
        try administration.delete(worker.subscriberName(index))
      }
    } catch {
      // Its own broker goes anyway; on another one a name that was still in use is told.
      guard settings.bus != nil, !context.interruption.isRequested else { return }
      Terminal.error(
        "could not delete the subscribers \(worker.subscriberName(0)) and on: \(error); "
          + "`eventbus consumers delete` does it")
    }
  }
}

/// What the kernel says of a process, and of where its files are.
enum ProcessFacts {
  /// Whether a folder is on a file system without a disk, where a sync costs nothing.
  static func isInMemory(_ path: String) -> Bool { unsafe eb_is_in_memory(path) != 0 }

  /// 0 where it does not say.
  static func residentBytes(of id: Int32) -> Int64 {
    guard let text = ProcFile.text("/proc/\(id)/statm") else { return 0 }
    let fields = text.split(separator: " ")
    return fields.count > 1 ? (Int64(fields[1]) ?? 0) * Int64(sysconf(Int32(_SC_PAGESIZE))) : 0
  }
}
