import LoadTest
import Primitives
import ServiceRuntime

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// Child processes of one role, and what they say while they run.
final class BenchWorkers {
  private final class Worker {
    let name: String
    let child: ChildProgram
    let resultFile: String
    var isReady = false
    var progress: UInt64 = 0
    var lastWords = ""

    init(name: String, child: ChildProgram, resultFile: String) {
      self.name = name
      self.child = child
      self.resultFile = resultFile
    }
  }

  private let context: Commands.Context
  private var workers: [Worker] = []

  init(
    _ role: String, _ settings: [WorkerSettings], _ scratch: ScratchFolder,
    _ context: Commands.Context
  ) throws {
    self.context = context
    let program = try UpCommand.executable()
    // What was said to this command by variables was handed on by options, and means it alone.
    let environment = context.environment.filter { !$0.key.hasPrefix("EVENTBUS_") }
    for one in settings {
      let file = "\(scratch.path)/\(role)-\(one.index)"
      let child = try ChildProgram(
        name: role, program: program,
        arguments: BenchWorkerCommand.words(role, one, result: file) + keys,
        environment: environment, holdsSignals: true)
      workers.append(Worker(name: "\(role) \(one.index)", child: child, resultFile: file))
    }
  }

  /// What a running bus may ask for.
  private var keys: [String] {
    guard context.arguments.text("bus") != nil else { return [] }
    return ["curve-key", "server-key"].flatMap { name in
      context.arguments.text(name).map { ["--\(name)", $0] } ?? []
    }
  }

  /// Of all together.
  var progress: UInt64 { workers.reduce(0) { $0 + $1.progress } }
  /// Of the one that is furthest behind.
  var leastProgress: UInt64 { workers.map(\.progress).min() ?? 0 }

  func stop() { for worker in workers { worker.child.stop() } }

  /// Waits until each has said `ready`.
  func waitUntilReady(_ timeout: Duration) throws {
    let end = SystemClock.monotonic() + timeout.nanoseconds + 5_000_000_000
    while !workers.allSatisfy(\.isReady) {
      try look()
      guard SystemClock.monotonic() < end else {
        throw CommandFailure(.failed, "a worker did not begin within \(timeout)")
      }
    }
  }

  /// Waits until all have ended.
  func waitUntilEnded(_ body: () throws -> Void = {}) throws {
    while !workers.allSatisfy({ $0.child.status != nil }) {
      try look()
      try body()
    }
  }

  /// What each left in its file.
  func results() throws -> [[UInt8]] {
    try workers.map { try WorkerFile.read($0.resultFile, context.interruption) }
  }

  /// Takes what they said, waiting up to so many milliseconds for it. Throws when one has failed, and when the command
  /// is asked to end; children that are left are killed as this object goes.
  func look(waiting milliseconds: Int32 = 100) throws {
    var items = workers.flatMap(\.child.descriptors).map {
      pollfd(fd: $0, events: Int16(POLLIN), revents: 0)
    }
    items.append(
      pollfd(fd: context.interruption.wake.descriptor, events: Int16(POLLIN), revents: 0))
    _ = unsafe poll(&items, nfds_t(items.count), milliseconds)
    if context.interruption.isRequested { throw BenchInterrupted() }
    for worker in workers { try look(worker) }
  }

  private func look(_ worker: Worker) throws {
    let lines = try worker.child.look()
    for line in lines.output {
      if line == "ready" { worker.isReady = true }
      if line.hasPrefix("progress "), let count = UInt64(line.dropFirst(9)) {
        worker.progress = count
      }
    }
    for line in lines.diagnostics { worker.lastWords = line }
    guard let status = worker.child.status, status != 0 else { return }
    let said = worker.lastWords.isEmpty ? "" : ": \(TerminalText.escape(worker.lastWords))"
    throw CommandFailure(
      status == ExitCode.busUnreachable.rawValue ? .busUnreachable : .failed,
      "\(worker.name) ended with \(status)\(said)")
  }
}

/// The broker of a test: a child process with a data directory that goes with it.
final class BenchBroker {
  let child: ChildProgram
  private(set) var bus = ""

  init(_ settings: BenchSettings, _ scratch: ScratchFolder, _ context: Commands.Context) throws {
    child = try ChildProgram(
      name: "broker", program: try UpCommand.executable(),
      arguments: [
        "broker", "--data", scratch.path + "/broker", "--port-base", "0",
        "--durability", settings.durability, "--log-level", "warning",
        // What all have read is of no more use, and the disk of a laptop is small.
        "--retention-bytes", "1GiB",
      ], environment: context.environment.filter { !$0.key.hasPrefix("EVENTBUS_") },
      holdsSignals: true)
    let end = SystemClock.monotonic() + settings.timeout.nanoseconds
    while bus.isEmpty {
      let lines = try child.look()
      for line in lines.output {
        if let ready = ReadyLine(line: line) { bus = ready["bus"] ?? "" }
      }
      if context.interruption.isRequested { throw BenchInterrupted() }
      if let status = child.status {
        let said = lines.diagnostics.last.map { ": " + TerminalText.escape($0) } ?? ""
        throw CommandFailure(.failed, "its broker ended with \(status)\(said)")
      }
      guard SystemClock.monotonic() < end else {
        throw CommandFailure(.failed, "its broker was not ready within \(settings.timeout)")
      }
      if bus.isEmpty { Pause.wait(milliseconds: 5) }
    }
  }

  /// Ends it in order, so that its folder can go; after three seconds it is killed.
  func stop() {
    child.stop()
    let end = SystemClock.monotonic() + 3_000_000_000
    do throws(SystemError) {
      while child.status == nil, SystemClock.monotonic() < end {
        // Read on, or it could wait for room in its pipe.
        _ = try child.look()
        Pause.wait(milliseconds: 5)
      }
    } catch {
      Terminal.error("eventbus bench: its broker: \(error)")
    }
  }
}
