import Primitives
import ServiceRuntime

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// The orderly end of a service: told to the service manager, and bounded by `--grace`.
struct ServiceEnd: ~Copyable {
  private let ended: WakeSignal
  private let thread: OwnedThread

  /// On a request to end, calls `stop`; when the service has not finished `--grace` later, ends the
  /// process, so that a stuck disk does not hold up a shutdown for ever.
  init(_ context: Commands.Context, stop: @escaping @Sendable () -> Void) throws {
    let grace = try context.arguments.value("grace", as: Duration.self)
    let ended = try WakeSignal()
    let (interruption, log) = (context.interruption, context.log)
    let manager = ServiceManager(environment: context.environment)
    let thread = try OwnedThread(name: "eb-grace") {
      guard Self.wait([interruption.wake, ended], milliseconds: -1) == 0 else { return }
      do throws(SystemError) { try manager.stopping() } catch {
        log.warning("the service manager was not told", LogField("error", .text("\(error)")))
      }
      stop()
      let limit = Int32(clamping: grace.nanoseconds / 1_000_000)
      guard Self.wait([ended], milliseconds: limit) == nil else { return }
      log.error("not finished within --grace \(grace): ending now")
      exit(ExitCode.failed.rawValue)
    }
    self.ended = ended
    self.thread = thread
  }

  /// The service has finished.
  consuming func finish() {
    ended.signal()
    thread.join()
  }

  /// The index of a signal that is set; nil when none was in time.
  private static func wait(_ signals: [WakeSignal], milliseconds: Int32) -> Int? {
    var entries = signals.map { pollfd(fd: $0.descriptor, events: Int16(POLLIN), revents: 0) }
    while true {
      let result = unsafe poll(&entries, nfds_t(signals.count), milliseconds)
      if result < 0, errno == EINTR { continue }
      return entries.firstIndex { $0.revents != 0 }
    }
  }
}
