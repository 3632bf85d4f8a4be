import Primitives
import ServiceRuntime
import Synchronization
import Testing

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

@Suite(.timeLimit(.minutes(5))) struct ProcessTests {
  /// A pipe whose ends the test closes.
  private func makePipe() throws -> (read: Int32, write: Int32) {
    var ends: [Int32] = [0, 0]
    try SystemError.check("pipe") { unsafe pipe(&ends) }
    return (ends[0], ends[1])
  }

  private func text(_ descriptor: Int32) -> String {
    var buffer = [UInt8](repeating: 0, count: 4096)
    let count = unsafe read(descriptor, &buffer, buffer.count)
    return String(decoding: buffer.prefix(max(0, count)), as: UTF8.self)
  }

  @Test func `lines are written at once when asked, else when flushed`() throws {
    let ends = try makePipe()
    defer { close(ends.read) }
    var lines = StandardOutput(descriptor: ends.write, flushing: .line)
    try lines.writeLine("a")
    #expect(text(ends.read) == "a\n")
    var blocks = StandardOutput(descriptor: ends.write)
    let isTerminal = blocks.isTerminal
    #expect(!isTerminal)
    try blocks.writeLine("b")
    try blocks.write("c")
    try lines.writeLine("first")
    try blocks.flush()
    close(ends.write)
    #expect(text(ends.read) == "first\nb\nc")
  }

  @Test func `a reader that goes away ends writing quietly`() throws {
    signal(SIGPIPE, SIG_IGN)
    let ends = try makePipe()
    defer { close(ends.write) }
    close(ends.read)
    var output = StandardOutput(descriptor: ends.write, flushing: .line)
    try output.writeLine("a")
    let isClosed = output.isClosed
    #expect(isClosed)
    try output.writeLine("b")
  }

  @Test func `another fault of writing is thrown`() throws {
    var output = StandardOutput(descriptor: -1, flushing: .line)
    let error = #expect(throws: SystemError.self) { try output.writeLine("a") }
    #expect(error?.code == EBADF)
  }

  @Test(
    arguments: [
      (false, [nil, .reload, .stop(.terminated), .kill(.interrupted)]),
      (true, [nil, .stop(.hungUp), .kill(.terminated), .kill(.interrupted)]),
    ] as [(Bool, [SignalSource.Event?])])
  func `the first signal asks to stop and the second to end at once`(
    endsAtHangUp: Bool, events: [SignalSource.Event?]
  ) throws {
    let seen = Mutex<[SignalSource.Event?]>([])
    let thread = try OwnedThread(name: "signals") {
      do {
        // Signals to this thread alone: the mask is this thread's, and the test's process goes on.
        var source = try SignalSource(endsAtHangUp: endsAtHangUp)
        let none = try source.next()
        seen.withLock { $0.append(none) }
        for number in [SIGHUP, SIGTERM, SIGINT] {
          pthread_kill(pthread_self(), number)
          let event = try source.wait(milliseconds: 10_000)
          seen.withLock { $0.append(event) }
        }
      } catch {
        Issue.record(error)
      }
    }
    thread.join()
    #expect(seen.withLock { $0 } == events)
  }

  @Test(arguments: [true, false])
  func `the service manager is told over its socket`(isAbstract: Bool) throws {
    let name = "/tmp/eventbus-notify-\(getpid())-\(isAbstract)"
    let address = isAbstract ? "@" + name : name
    var bound = sockaddr_un()
    bound.sun_family = sa_family_t(AF_UNIX)
    var path = Array(address.utf8)
    if isAbstract { path[0] = 0 }
    unsafe withUnsafeMutableBytes(of: &bound.sun_path) { unsafe $0.copyBytes(from: path) }
    let length = socklen_t(2 + path.count + (isAbstract ? 0 : 1))
    let receiver = try SystemError.check("socket") {
      socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
    }
    defer {
      close(receiver)
      unsafe unlink(name)
    }
    try SystemError.check("bind", address) {
      unsafe withUnsafePointer(to: bound) { pointer in
        unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          unsafe bind(receiver, $0, length)
        }
      }
    }
    let manager = ServiceManager(environment: ["NOTIFY_SOCKET": address])
    try manager.ready(status: "bus\n")
    #expect(text(receiver) == "READY=1\nSTATUS=bus\\n")
    try manager.stopping()
    #expect(text(receiver) == "STOPPING=1")
  }

  @Test func `without a service manager nothing is sent, and a wrong address is an error`() throws {
    try ServiceManager(environment: [:]).ready()
    #expect(throws: SystemError.self) {
      try ServiceManager(environment: ["NOTIFY_SOCKET": "/nonexistent/x"]).ready()
    }
  }
}
