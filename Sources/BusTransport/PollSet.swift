internal import CZeroMQ

/// What one thread waits for: its sockets and some file descriptors, made once and polled often.
///
/// Holds the sockets' handles but not the sockets: it must not outlive them. Both belong to one owner,
/// which declares the poll set after the sockets.
@safe public struct PollSet: ~Copyable {
  private var items: [zmq_pollitem_t] = unsafe []

  public init() {}

  /// Adds a socket that is to be read; returns its index.
  public mutating func add(_ socket: borrowing Socket) -> Int {
    unsafe items.append(
      zmq_pollitem_t(socket: socket.handle, fd: 0, events: Int16(ZMQ_POLLIN), revents: 0))
    return unsafe items.count - 1
  }

  /// Adds the reports about a socket's connections; returns their index.
  public mutating func addConnectionEvents(of socket: borrowing Socket) -> Int {
    unsafe items.append(
      zmq_pollitem_t(socket: socket.monitor, fd: 0, events: Int16(ZMQ_POLLIN), revents: 0))
    return unsafe items.count - 1
  }

  /// Adds a file descriptor that is to be read; returns its index.
  public mutating func add(descriptor: Int32) -> Int {
    unsafe items.append(
      zmq_pollitem_t(socket: nil, fd: descriptor, events: Int16(ZMQ_POLLIN), revents: 0))
    return unsafe items.count - 1
  }

  /// Whether an item is looked at for reading: how a full stage stops to take more.
  public mutating func watch(_ index: Int, _ isWatched: Bool) {
    unsafe items[index].events = isWatched ? Int16(ZMQ_POLLIN) : 0
  }

  /// Also waits until a socket can be written.
  public mutating func watchWriting(_ index: Int, _ isWatched: Bool) {
    let now = unsafe items[index].events
    unsafe items[index].events =
      isWatched ? now | Int16(ZMQ_POLLOUT) : now & ~Int16(ZMQ_POLLOUT)
  }

  /// Waits until something is ready or the time is over; returns how many items are. A negative time
  /// waits without end. Returns early, with 0, when a signal interrupts it.
  @discardableResult
  public mutating func wait(milliseconds: Int) throws(TransportError) -> Int {
    let result = unsafe zmq_poll(&items, Int32(items.count), milliseconds)
    if result >= 0 { return Int(result) }
    if zmq_errno() == EINTR {
      for index in unsafe items.indices { unsafe items[index].revents = 0 }
      return 0
    }
    throw TransportError.last("zmq_poll")
  }

  public func isReadable(_ index: Int) -> Bool {
    unsafe items[index].revents & Int16(ZMQ_POLLIN | ZMQ_POLLERR) != 0
  }

  public func isWritable(_ index: Int) -> Bool {
    unsafe items[index].revents & Int16(ZMQ_POLLOUT) != 0
  }
}
