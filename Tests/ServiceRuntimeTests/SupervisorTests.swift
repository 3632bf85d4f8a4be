import Primitives
import ServiceRuntime
import Synchronization
import Testing

/// Real children, all of them `/bin/sh`.
@Suite(.timeLimit(.minutes(5))) struct SupervisorTests {
  /// What the test tells the supervisor, and what it saw.
  private final class Stage: Sendable {
    struct State {
      var events: [SignalSource.Event] = []
      var lines: [String] = []
      var ready: [String] = []
    }
    let wake: WakeSignal
    let state = Mutex(State())

    init() throws { wake = try WakeSignal() }

    func request(_ event: SignalSource.Event) {
      state.withLock { $0.events.append(event) }
      wake.signal()
    }

    /// Runs until finished; `seen` reacts to lines, `ready` to all being ready.
    func run(
      _ scripts: [(name: String, script: String)], maximumFailures: Int = 8,
      grace: Duration = .seconds(10),
      onLine: @escaping (Stage, String) -> Void = { _, _ in },
      onReady: @escaping (Stage) -> Void = { _ in }
    ) throws -> ExitCode {
      let services = scripts.enumerated().map { index, service in
        ServiceSpecification(
          name: service.name, program: "/bin/sh", arguments: ["-c", service.script],
          after: scripts[..<index].map(\.name), grace: grace)
      }
      let quiet = Log(level: .error, format: .text, label: "", isColoured: false) { _ in }
      var supervisor = Supervisor(
        services,
        policy: RestartPolicy(
          firstBackoff: .milliseconds(1), maximumBackoff: .milliseconds(4),
          maximumFailures: maximumFailures),
        environment: ["PATH": "/usr/bin:/bin"], log: quiet,
        observer: Supervisor.Observer(
          line: { service, line in
            self.state.withLock { $0.lines.append("\(service)| \(line)") }
            onLine(self, line)
          },
          allReady: { lines in
            self.state.withLock { $0.ready = lines.map { "\($0.service): \($0.line)" } }
            onReady(self)
          }))
      return try supervisor.run(
        until: Supervisor.Requests(descriptor: wake.descriptor) {
          self.wake.clear()
          return self.state.withLock { $0.events.isEmpty ? nil : $0.events.removeFirst() }
        })
    }

    var lines: [String] { state.withLock { $0.lines } }
  }

  private static let obedient =
    "trap 'echo bye; exit 0' TERM; echo log >&2; echo ready bus=x; while :; do sleep 0.01; done"

  @Test func `services start in order, are told of, and stop in reverse order`() throws {
    let stage = try Stage()
    let code = try stage.run(
      [("one", Self.obedient), ("two", Self.obedient)], onReady: { $0.request(.stop(.terminated)) })
    #expect(code == .done)
    #expect(stage.state.withLock { $0.ready } == ["one: ready bus=x", "two: ready bus=x"])
    #expect(stage.lines.filter { $0.hasSuffix("bye") } == ["two| bye", "one| bye"])
    #expect(stage.lines.filter { $0.hasSuffix("log") } == ["one| log", "two| log"])
  }

  @Test func `what dies is started again`() throws {
    let stage = try Stage()
    let runs = Mutex(0)
    let code = try stage.run([("one", "echo run $$; exit 1")]) { stage, _ in
      let count = runs.withLock {
        $0 += 1; return $0
      }
      if count == 3 { stage.request(.stop(.interrupted)) }
    }
    #expect(code == .done)
    #expect(Set(stage.lines).count >= 3)
  }

  @Test func `what keeps failing ends everything with failure`() throws {
    let stage = try Stage()
    let code = try stage.run(
      [("good", Self.obedient), ("bad", "exit 7")], maximumFailures: 3)
    #expect(code == .failed)
    #expect(stage.lines.contains("good| bye"))
  }

  @Test func `a program that is not there counts as failing`() throws {
    let log = Log(level: .error, format: .text, label: "", isColoured: false) { _ in }
    var supervisor = Supervisor(
      [.init(name: "x", program: "/nonexistent/program", arguments: [])],
      policy: RestartPolicy(firstBackoff: .milliseconds(1), maximumFailures: 2),
      environment: [:], log: log, observer: .init(line: { _, _ in }, allReady: { _ in }))
    let wake = try WakeSignal()
    let code = try supervisor.run(until: .init(descriptor: wake.descriptor) { nil })
    #expect(code == .failed)
  }

  @Test func `what ignores the request to stop is killed after its grace`() throws {
    let stage = try Stage()
    let code = try stage.run(
      [("deaf", "trap '' TERM; echo ready; while :; do sleep 0.01; done")],
      grace: .milliseconds(50), onReady: { $0.request(.stop(.terminated)) })
    #expect(code == .done)
  }

  @Test func `a second request kills at once`() throws {
    let stage = try Stage()
    let code = try stage.run(
      [("deaf", "trap '' TERM; echo ready; while :; do sleep 0.01; done")],
      grace: .seconds(1_000),
      onReady: {
        $0.request(.stop(.interrupted))
        $0.request(.kill(.interrupted))
      })
    #expect(code == .interrupted)
  }

  @Test func `control characters of a child do not pass, and its environment says supervised`()
    throws
  {
    let stage = try Stage()
    _ = try stage.run(
      [("one", "printf '\\033[2J%s\\n' $EVENTBUS_SUPERVISED; printf tail; sleep 9")]
    ) { stage, _ in stage.request(.kill(.terminated)) }
    #expect(stage.lines.first == "one| \\u{1B}[2J1")
  }
}
