internal import CPlatform
public import Primitives

#if canImport(Glibc)
  internal import Glibc
#else
  internal import Darwin
#endif

/// The signals of the process as a file descriptor for poll sets.
///
/// Call `hold` first of all in `main`, and make one before any thread and any ZeroMQ context: threads
/// inherit the mask that keeps SIGTERM, SIGINT and SIGHUP from killing the process at once. SIGPIPE is
/// ignored from then on. One owner, one thread.
public struct SignalSource: ~Copyable {
  public enum Event: Hashable, Sendable {
    /// SIGTERM or SIGINT for the first time, or SIGHUP where that ends: end in order. Holds what a one-shot
    /// command exits with.
    case stop(ExitCode)
    /// A second one: end at once.
    case kill(ExitCode)
    /// SIGHUP where that does not end: read the configuration again, where there is one.
    case reload
  }

  /// Readable when `next` has something to give.
  public let descriptor: Int32
  private var core: SignalCore

  /// - Parameter endsAtHangUp: for what belongs to a terminal: SIGHUP says that it is gone. Under `nohup` it
  ///   goes on all the same.
  public init(endsAtHangUp: Bool = false) throws(SystemError) {
    core = SignalCore(endsAtHangUp: endsAtHangUp && eb_hang_up_is_ignored() == 0)
    signal(SIGPIPE, SIG_IGN)
    descriptor = try SystemError.check("signalfd") { eb_signalfd() }
  }

  deinit { close(descriptor) }

  /// From now on requests to end wait for `init`, so that who is told to end while it starts ends in order.
  public static func hold() throws(SystemError) {
    try SystemError.check("pthread_sigmask") { eb_hold_signals() }
  }

  /// What came since the last call; nil when nothing did. Does not wait.
  public mutating func next() throws(SystemError) -> Event? {
    let number = try SystemError.check("signalfd") { eb_signalfd_read(descriptor) }
    return number == 0 ? nil : core.receive(number)
  }

  /// Waits at most `milliseconds` (-1: without end) for the next signal.
  public mutating func wait(milliseconds: Int32) throws(SystemError) -> Event? {
    var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    let count = unsafe poll(&entry, 1, milliseconds)
    if count < 0, errno != EINTR { throw SystemError.last("poll") }
    return try next()
  }
}

/// What the first and the second request to end mean.
struct SignalCore {
  private let endsAtHangUp: Bool
  private var isStopping = false

  init(endsAtHangUp: Bool) { self.endsAtHangUp = endsAtHangUp }

  mutating func receive(_ number: Int32) -> SignalSource.Event? {
    let code: ExitCode
    switch number {
    case SIGHUP:
      guard endsAtHangUp else { return .reload }
      code = .hungUp
    case SIGINT: code = .interrupted
    case SIGTERM: code = .terminated
    default: return nil
    }
    defer { isStopping = true }
    return isStopping ? .kill(code) : .stop(code)
  }
}
