internal import CPlatform
internal import Synchronization

#if canImport(Glibc)
  internal import Glibc
#else
  internal import Darwin
#endif

/// An operating-system thread that runs one closure, for work that blocks or owns a socket: neither
/// belongs on Swift's cooperative pool, which has one thread a core.
///
/// An object that goes without `join` lets its thread end by itself: the system keeps the stack of a thread
/// that ended until somebody asked for it or said that nobody will.
public final class OwnedThread: Sendable {
  private let handle: UInt
  /// Whether the system was told, which may be done once.
  private let isGivenBack = Atomic(false)

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

  deinit { detach() }

  /// Lets the thread end by itself, with nobody to wait for it; nothing after `join`.
  public func detach() { if giveBack() { Self.detach(handle) } }

  /// Waits until the closure has returned. From a thread that may block; nothing when it was called before.
  public func join() { if giveBack() { Self.join(handle) } }

  private func giveBack() -> Bool { !isGivenBack.exchange(true, ordering: .relaxed) }

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
