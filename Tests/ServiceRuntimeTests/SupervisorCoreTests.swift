import ServiceRuntime
import Testing

@Suite struct SupervisorCoreTests {
  static let second: Int64 = 1_000_000_000

  /// A bus, and two services that need it.
  private func three(maximumFailures: Int = 3) -> SupervisorCore {
    SupervisorCore(
      [
        .init(name: "broker", program: "b", arguments: []),
        .init(name: "collector", program: "c", arguments: [], after: ["broker"]),
        .init(name: "archiver", program: "a", arguments: [], after: ["broker"]),
      ],
      policy: RestartPolicy(
        firstBackoff: .seconds(1), maximumBackoff: .seconds(3), healthyAfter: .seconds(60),
        maximumFailures: maximumFailures))
  }

  private func allReady(_ core: inout SupervisorCore) {
    _ = core.tick(at: 0)
    for index in 0..<3 { _ = core.becameReady(index, at: 0) }
  }

  @Test func `services start once what they need is ready`() {
    var core = three()
    #expect(core.tick(at: 0) == [.start(0)])
    #expect(core.tick(at: 1) == [])
    #expect(core.becameReady(0, at: 2) == [.start(1), .start(2)])
    #expect(core.becameReady(2, at: 3) == [])
    #expect(core.becameReady(1, at: 4) == [.allReady])
    #expect(core.becameReady(1, at: 5) == [])
  }

  @Test func `a service that dies is started again after a growing wait`() {
    var core = three(maximumFailures: 10)
    allReady(&core)
    for wait: Int64 in [1, 2, 3, 3] {
      #expect(core.exited(1, at: 0) == [])
      #expect(core.nextDeadline == wait * Self.second)
      #expect(core.tick(at: wait * Self.second - 1) == [])
      #expect(core.tick(at: wait * Self.second) == [.start(1)])
      #expect(core.becameReady(1, at: 0) == [])
    }
  }

  @Test func `those that need a service outlive its restart`() {
    var core = three()
    allReady(&core)
    #expect(core.exited(0, at: 0) == [])
    #expect(core.tick(at: Self.second) == [.start(0)])
    #expect(core.state(1) == .ready(since: 0))
  }

  @Test func `a service not ready in time is killed and started again`() {
    var core = three()
    _ = core.tick(at: 0)
    #expect(core.nextDeadline == 30 * Self.second)
    #expect(core.tick(at: 30 * Self.second) == [.kill(0)])
    #expect(core.becameReady(0, at: 30 * Self.second) == [])
    #expect(core.exited(0, at: 31 * Self.second) == [])
    #expect(core.tick(at: 32 * Self.second) == [.start(0)])
  }

  @Test func `a healthy run makes earlier failures forgotten`() {
    var core = three(maximumFailures: 2)
    allReady(&core)
    for run: Int64 in 1...5 {
      let death = run * 100 * Self.second
      #expect(core.exited(1, at: death) == [])
      #expect(core.tick(at: death + Self.second) == [.start(1)])
      #expect(core.becameReady(1, at: death + Self.second) == [])
    }
  }

  @Test func `too many failures end everything in order`() {
    var core = three(maximumFailures: 2)
    allReady(&core)
    _ = core.exited(1, at: 0)
    _ = core.tick(at: Self.second)
    #expect(core.exited(1, at: Self.second) == [.giveUp(1), .terminate(2)])
    #expect(core.fatalStatus == 1)
    #expect(core.exited(2, at: Self.second) == [.terminate(0)])
    #expect(core.exited(0, at: Self.second) == [.finished])
  }

  @Test func `a service that says another start is of no use is believed until it was ready`() {
    var core = three()
    _ = core.tick(at: 0)
    #expect(core.exited(0, isFinal: true, at: 0).contains(.giveUp(0)))
    #expect(core.fatalStatus == 1)
    core = three()
    allReady(&core)
    #expect(core.exited(0, isFinal: true, at: 0) == [])
    #expect(core.nextDeadline == Self.second)
  }

  @Test(arguments: [2, 73])
  func `what would end the same way again is not started again`(status: Int32) {
    var core = three()
    allReady(&core)
    #expect(core.exited(2, status: status, at: 0) == [.giveUp(2), .terminate(1)])
    #expect(core.fatalStatus == status)
  }

  @Test func `a service that the others can do without stays ended alone`() {
    var core = SupervisorCore(
      [
        .init(name: "broker", program: "b", arguments: []),
        .init(name: "segment", program: "s", arguments: [], after: ["broker"], isRequired: false),
      ],
      policy: RestartPolicy(
        firstBackoff: .seconds(1), maximumBackoff: .seconds(1), maximumFailures: 2))
    _ = core.tick(at: 0)
    #expect(core.becameReady(0, at: 0) == [.start(1)])
    #expect(core.exited(1, at: 0) == [])
    #expect(core.tick(at: Self.second) == [.start(1)])
    #expect(core.exited(1, at: Self.second) == [.abandon(1), .allReady])
    #expect(core.fatalStatus == nil)
    #expect(core.tick(at: 100 * Self.second) == [])
    #expect(core.stop(at: 200 * Self.second) == [.terminate(0)])
  }

  @Test func `stopping goes from the last to the first, one at a time`() {
    var core = three()
    allReady(&core)
    #expect(core.stop(at: 0) == [.terminate(2)])
    #expect(core.stop(at: 1) == [])
    #expect(core.exited(2, at: 2) == [.terminate(1)])
    #expect(core.exited(1, at: 3) == [.terminate(0)])
    #expect(core.exited(0, at: 4) == [.finished])
    #expect(core.tick(at: 100 * Self.second) == [])
  }

  @Test func `what does not end within its grace is killed`() {
    var core = three()
    allReady(&core)
    _ = core.stop(at: 0)
    #expect(core.nextDeadline == 10 * Self.second)
    #expect(core.tick(at: 10 * Self.second) == [.kill(2)])
    #expect(core.tick(at: 11 * Self.second) == [])
    #expect(core.exited(2, at: 12 * Self.second) == [.terminate(1)])
  }

  @Test func `stopping passes over what waits or backs off`() {
    var core = three()
    _ = core.tick(at: 0)
    _ = core.exited(0, at: 0)
    #expect(core.stop(at: 0) == [.finished])
  }

  @Test func `a second request kills everything at once`() {
    var core = three()
    allReady(&core)
    _ = core.stop(at: 0)
    #expect(core.killAll(at: 1) == [.kill(0), .kill(1), .kill(2)])
    for index in 0..<2 { #expect(core.exited(index, at: 2) == []) }
    #expect(core.exited(2, at: 2) == [.finished])
  }

  /// Random histories: whatever happens, stopping ends, and each service is run at most once at a
  /// time.
  @Test(arguments: 0..<50)
  func `any history can be stopped`(seed: Int) {
    var state = UInt64(seed) &* 0x9E37_79B9_7F4A_7C15 | 1
    func random(_ bound: Int) -> Int {
      state ^= state << 13
      state ^= state >> 7
      state ^= state << 17
      return Int(state % UInt64(bound))
    }
    var core = three(maximumFailures: 5)
    var running: Set<Int> = []
    var now: Int64 = 0
    var isFinished = false
    func apply(_ actions: [SupervisorCore.Action]) {
      for action in actions {
        switch action {
        case .start(let index): #expect(running.insert(index).inserted)
        case .terminate(let index), .kill(let index): #expect(running.contains(index))
        case .finished:
          #expect(!isFinished && running.isEmpty)
          isFinished = true
        case .allReady, .giveUp, .abandon: break
        }
      }
    }
    apply(core.tick(at: now))
    for _ in 0..<200 {
      now += Int64(random(5)) * Self.second
      let index = random(3)
      switch random(10) {
      case 0..<4: if running.contains(index) { apply(core.becameReady(index, at: now)) }
      case 4, 5: if running.remove(index) != nil { apply(core.exited(index, at: now)) }
      default: apply(core.tick(at: now))
      }
    }
    apply(core.stop(at: now))
    for _ in 0..<10 where !running.isEmpty {
      let index = running.removeFirst()
      apply(core.exited(index, at: now))
    }
    #expect(isFinished)
  }
}
