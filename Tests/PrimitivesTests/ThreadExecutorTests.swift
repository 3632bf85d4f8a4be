import Synchronization
import Testing

@testable import Primitives

/// An actor on a thread of its own.
@Suite(.timeLimit(.minutes(5)))
struct ThreadExecutorTests {
  actor Counter {
    private nonisolated let thread: ThreadExecutor
    private var count = 0
    private var threads: Set<Int64> = []

    init() throws { thread = try ThreadExecutor(name: "test") }

    nonisolated var unownedExecutor: UnownedSerialExecutor {
      unsafe thread.asUnownedSerialExecutor()
    }

    func add() -> Int {
      count += 1
      threads.insert(OwnedThread.currentID)
      return count
    }

    var threadCount: Int { threads.count }

    nonisolated func addLater(_ delay: Duration, _ done: @escaping @Sendable (Int) -> Void) {
      thread.call(after: delay) { self.assumeIsolated { done($0.add()) } }
    }
  }

  @Test func `jobs and calls run one at a time on one thread`() async throws {
    let counter = try Counter()
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<50 { group.addTask { for _ in 0..<100 { _ = await counter.add() } } }
    }
    let last = await withCheckedContinuation { continuation in
      counter.addLater(.milliseconds(1)) { continuation.resume(returning: $0) }
    }
    #expect(last == 5001)
    #expect(await counter.threadCount == 1)
  }

  @Test func `a call comes after its delay`() async throws {
    let counter = try Counter()
    let start = SystemClock.monotonic()
    _ = await withCheckedContinuation { continuation in
      counter.addLater(.milliseconds(30)) { continuation.resume(returning: $0) }
    }
    #expect(SystemClock.monotonic() - start >= 30_000_000)
  }

  @Test func `the thread ends with its actor`() async throws {
    weak var gone: Counter?
    do {
      let counter = try Counter()
      gone = counter
      #expect(await counter.add() == 1)
    }
    #expect(gone == nil)
  }

  @Test func `the gate of other systems opens at once and later`() throws {
    let gate = try ConditionGate()
    gate.open()
    gate.wait()
    let start = SystemClock.monotonic()
    gate.open(after: 20_000_000)
    gate.wait()
    #expect(SystemClock.monotonic() - start >= 20_000_000)
    let opened = Atomic(false)
    let other = try OwnedThread(name: "opener") {
      opened.store(true, ordering: .releasing)
      gate.open()
    }
    gate.wait()
    let isOpened = opened.load(ordering: .acquiring)
    #expect(isOpened)
    other.join()
  }
}
