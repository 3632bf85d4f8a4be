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
    let mailbox: Mailbox<Message>
    let threadID = Atomic<Int64>(0)

    init() throws(SystemError) { mailbox = try Mailbox() }
  }

  private let shared: Shared

  public init(name: String) throws(SystemError) {
    let shared = try Shared()
    self.shared = shared
    // Jobs hold their actor and so this executor: it is there whenever one runs.
    let executor = unsafe UnownedSerialExecutor(ordinary: self)
    try OwnedThread(name: name) { unsafe Self.run(shared, executor) }.detach()
  }

  deinit { shared.mailbox.post(.stop) }

  public func enqueue(_ job: consuming ExecutorJob) { shared.mailbox.post(.job(UnownedJob(job))) }

  public func asUnownedSerialExecutor() -> UnownedSerialExecutor {
    unsafe UnownedSerialExecutor(ordinary: self)
  }

  /// Runs `body` on the thread after `delay`, where it may `assumeIsolated` the actor. Unlike a task, it
  /// needs no thread of Swift's pool, which a program may have blocked.
  public func call(after delay: Duration, _ body: @escaping @Sendable () -> Void) {
    shared.mailbox.post(.call(at: SystemClock.monotonic() + delay.nanoseconds, body))
  }

  public func checkIsolated() {
    let id = shared.threadID.load(ordering: .relaxed)
    precondition(OwnedThread.currentID == id, "an actor was entered from another thread")
  }

  private static func run(_ shared: Shared, _ executor: UnownedSerialExecutor) {
    shared.threadID.store(OwnedThread.currentID, ordering: .relaxed)
    let mailbox = shared.mailbox
    var calls: [(at: Int64, body: @Sendable () -> Void)] = []
    while true {
      if let first = calls.map(\.at).min() {
        let wait = max(0, first - SystemClock.monotonic())
        mailbox.wake.wait(milliseconds: Int32(clamping: (wait + 999_999) / 1_000_000))
      } else {
        mailbox.wake.wait()
      }
      mailbox.wake.clear()
      for message in mailbox.takeAll() {
        switch message {
        case .job(let job): unsafe job.runSynchronously(on: executor)
        case .call(let time, let body): calls.append((time, body))
        case .stop: return
        }
      }
      let now = SystemClock.monotonic()
      let due = calls.filter { $0.at <= now }.sorted { $0.at < $1.at }
      calls.removeAll { $0.at <= now }
      for call in due { call.body() }
    }
  }
}
