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
  private let handle: UInt

  /// Starts the thread. Its name is cut to 15 bytes.
  public init(name: String, _ body: @escaping @Sendable () -> Void) throws(SystemError) {
    let start = unsafe Unmanaged.passRetained(Start(name: name, body: body))
    let (thread, failed) = unsafe Self.create(start.toOpaque())
    guard failed == 0 else {
      unsafe start.release()
      throw SystemError(call: "pthread_create", code: failed, subject: name)
    }
    handle = thread
  }

  /// Lets the thread end by itself, with nobody to wait for it. Not with `join`.
  public func detach() { Self.detach(handle) }

  /// Waits until the closure has returned. Call it once, from a thread that may block.
  public func join() { Self.join(handle) }

  /// The kernel's id of the calling thread.
  public static var currentID: Int64 { eb_thread_id() }

  private final class Start {
    let name: String
    let body: @Sendable () -> Void
    init(name: String, body: @escaping @Sendable () -> Void) {
      self.name = name
      self.body = body
    }

    static func run(_ argument: UnsafeMutableRawPointer) {
      let start = unsafe Unmanaged<Start>.fromOpaque(argument).takeRetainedValue()
      unsafe eb_set_thread_name(start.name)
      start.body()
    }
  }
}

// A `pthread_t` is a number on Linux and a pointer on Apple's systems; `handle` holds either.
#if canImport(Glibc)
  extension OwnedThread {
    private static func create(_ start: UnsafeMutableRawPointer) -> (UInt, Int32) {
      var thread = pthread_t()
      let failed = unsafe pthread_create(
        &thread, nil,
        { argument in
          if let argument = unsafe argument { unsafe Start.run(argument) }
          return nil
        }, start)
      return (thread, failed)
    }

    private static func join(_ handle: UInt) { pthread_join(handle, nil) }
    private static func detach(_ handle: UInt) { pthread_detach(handle) }
  }
#else
  extension OwnedThread {
    private static func create(_ start: UnsafeMutableRawPointer) -> (UInt, Int32) {
      var thread: pthread_t?
      let failed = unsafe pthread_create(
        &thread, nil,
        { argument in
          unsafe Start.run(argument)
          return nil
        }, start)
      return (unsafe UInt(bitPattern: thread), failed)
    }

    private static func join(_ handle: UInt) {
      if let thread = unsafe pthread_t(bitPattern: handle) { unsafe pthread_join(thread, nil) }
    }

    private static func detach(_ handle: UInt) {
      if let thread = unsafe pthread_t(bitPattern: handle) { unsafe pthread_detach(thread) }
    }
  }
#endif
