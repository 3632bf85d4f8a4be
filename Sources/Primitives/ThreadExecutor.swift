internal import Synchronization

/// Runs an actor on a thread of its own, for actors whose work blocks: files, databases.
///
/// ```swift
/// actor Store {
///   private nonisolated let thread: ThreadExecutor
///   nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }
/// }
/// ```
/// The thread ends after the executor is gone, with what was enqueued before. A job that is enqueued
/// costs its caller about a microsecond where the thread is asleep.
public final class ThreadExecutor: SerialExecutor {
  private enum Message: Sendable {
    case job(UnownedJob)
    case call(at: Int64, @Sendable () -> Void)
    case stop
  }

  /// What the thread and its executor share.
  private final class Shared: Sendable {
    let gate: ThreadGate
    let messages = Mutex<[Message]>([])
    let threadID = Atomic<Int64>(0)

    init() throws(SystemError) { gate = try ThreadGate() }

    func add(_ message: Message) { messages.withLock { $0.append(message) } }
  }

  private let shared: Shared
  /// A burst leaves no more room behind than for so many.
  private static var keptMessages: Int { 64 }

  public init(name: String) throws(SystemError) {
    let shared = try Shared()
    self.shared = shared
    // Jobs hold their actor and so this executor: it is there whenever one runs.
    let executor = unsafe UnownedSerialExecutor(ordinary: self)
    try OwnedThread(name: name) { unsafe Self.run(shared, executor) }.detach()
  }

  deinit { post(.stop) }

  public func enqueue(_ job: consuming ExecutorJob) { post(.job(UnownedJob(job))) }

  private func post(_ message: Message) {
    shared.add(message)
    shared.gate.open()
  }

  public func asUnownedSerialExecutor() -> UnownedSerialExecutor {
    unsafe UnownedSerialExecutor(ordinary: self)
  }

  /// Runs `body` on the thread after `delay`, where it may `assumeIsolated` the actor. Unlike a task it
  /// needs no thread of Swift's pool, which a program may have blocked; and it does not wake the thread
  /// now (on Linux). A later call may delay an earlier one by its own delay, so they should be short.
  public func call(after delay: Duration, _ body: @escaping @Sendable () -> Void) {
    let nanoseconds = delay.nanoseconds
    shared.add(.call(at: SystemClock.monotonic() + nanoseconds, body))
    shared.gate.open(after: nanoseconds)
  }

  public func checkIsolated() {
    let id = shared.threadID.load(ordering: .relaxed)
    precondition(OwnedThread.currentID == id, "an actor was entered from another thread")
  }

  private static func run(_ shared: Shared, _ executor: UnownedSerialExecutor) {
    shared.threadID.store(OwnedThread.currentID, ordering: .relaxed)
    var calls: [(at: Int64, body: @Sendable () -> Void)] = []
    var messages: [Message] = []
    while true {
      shared.gate.wait()
      // The two arrays change places, so that whoever wakes the thread allocates none.
      shared.messages.withLock { swap(&messages, &$0) }
      for message in messages {
        switch message {
        case .job(let job): unsafe job.runSynchronously(on: executor)
        case .call(let time, let body): calls.append((time, body))
        case .stop: return
        }
      }
      // Now, since calls keep their actor.
      messages.removeAll(keepingCapacity: messages.count <= Self.keptMessages)
      let now = SystemClock.monotonic()
      let due = calls.filter { $0.at <= now }.sorted { $0.at < $1.at }
      calls.removeAll { $0.at <= now }
      for call in due { call.body() }
      if let next = calls.map(\.at).min() {
        shared.gate.open(after: next - SystemClock.monotonic())
      }
    }
  }
}
