public import Primitives

#if canImport(Glibc)
  internal import Glibc
#else
  internal import Darwin
#endif

/// Runs services as child processes until told to stop: the shell around `SupervisorCore`.
///
/// One owner, one thread, which `run` blocks. Children get `EVENTBUS_SUPERVISED=1` and this
/// process's id, by which they end when it dies (see `SupervisedChild`).
public struct Supervisor: ~Copyable {
  /// Where requests to end come from; a `SignalSource` outside of tests.
  public struct Requests {
    /// Readable when `next` has something to give.
    public var descriptor: Int32
    public var next: () throws(SystemError) -> SignalSource.Event?

    public init(
      descriptor: Int32, next: @escaping () throws(SystemError) -> SignalSource.Event?
    ) {
      self.descriptor = descriptor
      self.next = next
    }
  }

  /// What the owner may want to show.
  public struct Observer {
    /// A line a child wrote, on stdout (other than its ready line) or stderr.
    public var line: (_ service: String, _ line: String) -> Void
    /// All services are ready, for the first time; their ready lines by the order of the list.
    public var allReady: ([(service: String, line: ReadyLine)]) -> Void

    public init(
      line: @escaping (String, String) -> Void,
      allReady: @escaping ([(service: String, line: ReadyLine)]) -> Void
    ) {
      self.line = line
      self.allReady = allReady
    }
  }

  private var core: SupervisorCore
  private let environment: [String: String]
  private let log: Log
  private let observer: Observer
  private var children: [Int: Box] = [:]
  private var readyLines: [Int: ReadyLine] = [:]
  /// Who said `SupervisedChild.finalLine`.
  private var hopeless: Set<Int> = []
  private var isFinished = false

  /// Holds a process in a dictionary, which takes no noncopyable values.
  private final class Box {
    var process: SupervisedProcess
    init(_ process: consuming SupervisedProcess) { self.process = process }
  }

  public init(
    _ services: [ServiceSpecification], policy: RestartPolicy = RestartPolicy(),
    environment: [String: String], log: Log, observer: Observer
  ) {
    core = SupervisorCore(services, policy: policy)
    let own = ["EVENTBUS_SUPERVISED": "1", "EVENTBUS_SUPERVISOR": String(getpid())]
    self.environment = environment.merging(own) { $1 }
    self.log = log
    self.observer = observer
  }

  /// Until all children have ended: `.done` after a request to stop, a required service's own code after giving up,
  /// `.interrupted` or `.terminated` when a second request killed them.
  public mutating func run(until requests: Requests) throws(SystemError) -> ExitCode {
    var outcome = ExitCode.done
    perform(core.tick(at: SystemClock.monotonic()))
    while !isFinished {
      try waitForNews(requests.descriptor)
      while let event = try requests.next() {
        switch event {
        case .stop: perform(core.stop(at: SystemClock.monotonic()))
        case .kill(let code):
          outcome = code
          perform(core.killAll(at: SystemClock.monotonic()))
        case .reload: log.info("nothing to reload")
        }
      }
      for index in core.specifications.indices { try serve(index) }
      perform(core.tick(at: SystemClock.monotonic()))
    }
    return core.fatalStatus.map { ExitCode(rawValue: $0) ?? .failed } ?? outcome
  }

  private func waitForNews(_ requests: Int32) throws(SystemError) {
    var entries = [pollfd(fd: requests, events: Int16(POLLIN), revents: 0)]
    var needsTurns = false
    for box in children.values {
      var descriptors: [Int32] = []
      if box.process.isOutputOpen { descriptors.append(box.process.output) }
      if box.process.isDiagnosticsOpen { descriptors.append(box.process.diagnostics) }
      let end = box.process.endDescriptor
      if end >= 0 { descriptors.append(end) } else { needsTurns = true }
      entries += descriptors.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
    }
    var timeout: Int64 = needsTurns ? 100 : -1
    if let deadline = core.nextDeadline, deadline != .max {
      let rest = max(0, (deadline - SystemClock.monotonic() + 999_999) / 1_000_000)
      timeout = timeout < 0 ? rest : min(timeout, rest)
    }
    let count = nfds_t(entries.count)
    let result = unsafe poll(&entries, count, Int32(min(timeout, 60_000)))
    if result < 0, errno != EINTR { throw SystemError.last("poll") }
  }

  /// Passes on a child's lines and sees whether it ended.
  private mutating func serve(_ index: Int) throws(SystemError) {
    guard let box = children[index] else { return }
    // Before reading: what was written before the end is then in the pipes.
    let code = try box.process.reap()
    let hasEnded = code != nil
    if box.process.isOutputOpen {
      for line in box.process.readLines(.output, all: hasEnded) { receive(line, from: index) }
    }
    if box.process.isDiagnosticsOpen {
      for line in box.process.readLines(.diagnostics, all: hasEnded) { show(line, of: index) }
    }
    guard let code else { return }
    children[index] = nil
    let name = core.specifications[index].name
    let actions = core.exited(
      index, status: code, isFinal: hopeless.remove(index) != nil, at: SystemClock.monotonic())
    switch core.state(index) {
    case .stopped: log.change(.info, "service ended", .init("name", .text(name)), exit(code))
    default: log.change(.warning, "service died", .init("name", .text(name)), exit(code))
    }
    perform(actions)
  }

  private func exit(_ code: Int32) -> LogField { LogField("status", .integer(Int64(code))) }

  private mutating func receive(_ line: String, from index: Int) {
    if line == SupervisedChild.finalLine {
      hopeless.insert(index)
      return
    }
    guard let ready = ReadyLine(line: line) else { return show(line, of: index) }
    readyLines[index] = ready
    log.change(.info, "service ready", LogField("name", .text(core.specifications[index].name)))
    perform(core.becameReady(index, at: SystemClock.monotonic()))
  }

  private func show(_ line: String, of index: Int) {
    observer.line(core.specifications[index].name, TerminalText.escape(line))
  }

  private mutating func perform(_ actions: [SupervisorCore.Action]) {
    for action in actions {
      switch action {
      case .start(let index): start(index)
      case .terminate(let index): children[index]?.process.send(signal: SIGTERM)
      case .kill(let index): children[index]?.process.send(signal: SIGKILL)
      case .allReady:
        let specifications = core.specifications
        observer.allReady(
          specifications.indices.compactMap { index in
            readyLines[index].map { (specifications[index].name, $0) }
          })
      case .giveUp(let index):
        log.change(
          .error, "giving up: the service keeps failing; its last lines above say why",
          LogField("name", .text(core.specifications[index].name)))
      case .abandon(let index):
        log.change(
          .error,
          "this service keeps failing and stays ended; its last lines above say why. The others go on",
          LogField("name", .text(core.specifications[index].name)))
      case .finished: isFinished = true
      }
    }
  }

  private mutating func start(_ index: Int) {
    let specification = core.specifications[index]
    do {
      children[index] = Box(try SupervisedProcess(specification, environment: environment))
    } catch {
      log.change(
        .error, "service cannot be started", LogField("name", .text(specification.name)),
        LogField("error", describing: error))
      // The backoff keeps this from recurring at once, and its end from recurring for ever.
      perform(core.exited(index, at: SystemClock.monotonic()))
    }
  }
}
