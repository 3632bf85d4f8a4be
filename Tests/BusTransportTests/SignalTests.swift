internal import BusTransport
internal import Primitives
internal import Synchronization
internal import Testing

#if canImport(Glibc)
  internal import Glibc
#else
  internal import Darwin
#endif

/// What a signal does to a thread that waits for its sockets.
@Suite(.timeLimit(.minutes(5)))
struct SignalTests {

  @Test func `a signal ends a wait early and is no error`() throws {
    let context = try ZeroMQContext()
    let pull = try Socket(context, .pull)
    var poll = PollSet()
    _ = poll.add(pull)
    _ = signal(SIGUSR2) { _ in }
    // The threads that run tests block most signals.
    var signals = sigset_t()
    unsafe sigemptyset(&signals)
    unsafe sigaddset(&signals, SIGUSR2)
    unsafe pthread_sigmask(SIG_UNBLOCK, &signals, nil)
    defer { unsafe pthread_sigmask(SIG_BLOCK, &signals, nil) }
    let target = pthread_self()
    let isOver = Flag()
    // One signal could come before the wait begins, so they go on until it is over.
    let thread = try OwnedThread(name: "signals") {
      while !isOver.isRaised {
        pthread_kill(target, SIGUSR2)
        usleep(1000)
      }
    }
    let start = SystemClock.monotonic()
    let ready = try poll.wait(milliseconds: 30_000)
    let end = SystemClock.monotonic()
    isOver.raise()
    thread.join()
    #expect(ready == 0)
    #expect(end - start < 20_000_000_000)
  }

}

private final class Flag: Sendable {
  private let raised = Atomic<Bool>(false)
  var isRaised: Bool { raised.load(ordering: .acquiring) }
  func raise() { raised.store(true, ordering: .releasing) }
}
