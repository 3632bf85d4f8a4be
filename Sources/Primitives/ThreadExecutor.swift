/// Runs an actor on a thread of its own, for actors whose work blocks: files, databases.
///
/// ```swift
/// actor Store {
///   private let thread: ThreadExecutor
///   nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }
/// }
/// ```
/// The thread ends after the executor is gone, with what was enqueued before. An enqueued job costs the
/// caller about a microsecond where the thread is asleep.
public final class ThreadExecutor: SerialExecutor {
  private enum Message: Sendable {
    case job(UnownedJob)
    case stop
  }

  private let mailbox: Mailbox<Message>

  public init(name: String) throws(SystemError) {
    let mailbox = try Mailbox<Message>()
    self.mailbox = mailbox
    // Jobs hold their actor and so this executor: it is there whenever one runs.
    let executor = unsafe UnownedSerialExecutor(ordinary: self)
    try OwnedThread(name: name) {
      while true {
        mailbox.wake.wait()
        for message in mailbox.takeAll() {
          guard case .job(let job) = message else { return }
          unsafe job.runSynchronously(on: executor)
        }
      }
    }.detach()
  }

  deinit { mailbox.post(.stop) }

  public func enqueue(_ job: consuming ExecutorJob) { mailbox.post(.job(UnownedJob(job))) }

  public func asUnownedSerialExecutor() -> UnownedSerialExecutor {
    unsafe UnownedSerialExecutor(ordinary: self)
  }
}
