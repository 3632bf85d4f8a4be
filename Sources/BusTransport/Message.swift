internal import CZeroMQ

#if canImport(Glibc)
  internal import Glibc
#else
  internal import Darwin
#endif

/// One frame: bytes that libzmq owns, at a fixed address. Reused for receiving, it allocates nothing.
///
/// What was received into it stays until the next receive; copy out what must live longer, since a small
/// frame can pin the whole buffer it came in.
@safe public struct Message: ~Copyable {
  // A small message keeps its bytes inside zmq_msg_t, so that must not move: it lives on the heap.
  let handle: UnsafeMutablePointer<zmq_msg_t>

  public init() {
    unsafe handle = .allocate(capacity: 1)
    unsafe zmq_msg_init(handle)
  }

  public init(copying bytes: RawSpan) {
    unsafe handle = .allocate(capacity: 1)
    let count = bytes.byteCount
    precondition(unsafe zmq_msg_init_size(handle, count) == 0, "no memory for \(count) bytes")
    unsafe bytes.withUnsafeBytes { source in
      if let start = source.baseAddress {
        unsafe zmq_msg_data(handle).copyMemory(from: start, byteCount: count)
      }
    }
  }

  /// A frame over an array's own bytes, without copying. They are released when libzmq has sent them,
  /// on one of its threads.
  public init(owning bytes: [UInt8]) {
    unsafe handle = .allocate(capacity: 1)
    guard !bytes.isEmpty else {
      unsafe zmq_msg_init(handle)
      return
    }
    let owner = Owner(bytes)
    let retained = unsafe Unmanaged.passRetained(owner)
    let result = unsafe zmq_msg_init_data(
      handle, owner.start, owner.count,
      { _, hint in unsafe Unmanaged<Owner>.fromOpaque(hint!).release() }, retained.toOpaque())
    precondition(result == 0, "no memory for a message head")
  }

  /// Keeps the storage of an array alive and its bytes in place.
  @safe private final class Owner: @unchecked Sendable {
    // Immutable after init: the array is held here and never written, so its buffer does not move.
    private let bytes: [UInt8]
    let start: UnsafeMutableRawPointer
    let count: Int

    init(_ bytes: [UInt8]) {
      self.bytes = bytes
      count = bytes.count
      unsafe start = self.bytes.withUnsafeBytes { bytes in
        unsafe UnsafeMutableRawPointer(mutating: bytes.baseAddress!)
      }
    }
  }

  deinit {
    unsafe zmq_msg_close(handle)
    unsafe handle.deallocate()
  }

  public var byteCount: Int { unsafe zmq_msg_size(handle) }

  /// Whether a further frame of the same message follows.
  public var hasMore: Bool { unsafe zmq_msg_more(handle) != 0 }

  public var bytes: RawSpan {
    @_lifetime(borrow self)
    get {
      let span = unsafe RawSpan(
        _unsafeStart: UnsafeRawPointer(zmq_msg_data(handle)!), byteCount: zmq_msg_size(handle))
      return unsafe _overrideLifetime(span, borrowing: self)
    }
  }

  /// The same for a message inside a class, which cannot lend a span beyond a closure.
  @inlinable
  public func withBytes<R, E: Error>(_ body: (RawSpan) throws(E) -> R) throws(E) -> R {
    try body(bytes)
  }

  /// The file descriptor of the connection it came by; nil when libzmq does not know.
  public var sourceDescriptor: Int32? {
    let descriptor = unsafe zmq_msg_get(handle, ZMQ_SRCFD)
    return descriptor > 0 ? descriptor : nil
  }

  /// The user that the authenticator named when this message's connection was made; nil without one.
  /// A peer can state a user of its own where no authenticator answered: see ``ConnectionAuthenticator``.
  public var user: [UInt8]? {
    guard let text = unsafe zmq_msg_gets(handle, "User-Id") else { return nil }
    return unsafe [UInt8](UnsafeRawBufferPointer(start: text, count: strlen(text)))
  }
}
