internal import CPlatform

#if canImport(Glibc)
  internal import Glibc
#else
  internal import Darwin
#endif

/// An operating-system thread that runs one closure, for work that blocks or owns a socket: neither
/// belongs on Swift's cooperative pool, which has one thread a core.
public final class OwnedThread: @unchecked Sendable {
  // Written once in `init` and read by `join`, which one owner calls: no race.
  private let handle: pthread_t

  /// Starts the thread. Its name is cut to 15 bytes.
  public init(name: String, _ body: @escaping @Sendable () -> Void) throws(SystemError) {
    let start = unsafe Unmanaged.passRetained(Start(name: name, body: body))
    var thread = pthread_t()
    let failed = unsafe pthread_create(
      &thread, nil,
      { argument in
        let start = unsafe Unmanaged<Start>.fromOpaque(argument!).takeRetainedValue()
        unsafe eb_set_thread_name(start.name)
        start.body()
        return nil
      }, start.toOpaque())
    guard failed == 0 else {
      unsafe start.release()
      throw SystemError(call: "pthread_create", code: failed, subject: name)
    }
    handle = thread
  }

  /// Waits until the closure has returned. Call it once, from a thread that may block.
  public func join() { pthread_join(handle, nil) }

  /// The kernel's id of the calling thread.
  public static var currentID: Int64 { eb_thread_id() }

  private final class Start {
    let name: String
    let body: @Sendable () -> Void
    init(name: String, body: @escaping @Sendable () -> Void) {
      self.name = name
      self.body = body
    }
  }
}
