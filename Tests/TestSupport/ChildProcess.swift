public import Primitives
internal import Synchronization

#if canImport(Glibc)
  internal import Glibc
#else
  internal import Darwin
#endif

/// A program that a test starts, feeds, signals and waits for, by `posix_spawn`.
///
/// Not Foundation's `Process`: that detects the exit by an inherited socket, so a grandchild hides it.
/// Two threads collect what the program writes; ask for it at any time. When the object goes away while
/// the program runs, the program is killed, so a failed test leaves nothing behind.
public final class ChildProcess: @unchecked Sendable {
  // `status` is guarded by being touched only by the test that owns the object, one call at a time; the
  // collectors are thread-safe themselves.
  public let id: Int32
  public let output: OutputCollector
  public let errorOutput: OutputCollector
  private let input: Int32
  private static let spawning = Mutex(())
  private var inputIsOpen = true
  private var status: Status?

  public enum Status: Hashable, Sendable {
    case exited(Int32)
    case signalled(Int32)
    /// It still ran at the deadline; it was killed.
    case timedOut
  }

  /// Starts `path` (absolute, or searched in PATH). `environment` is added to the test's own.
  ///
  /// - Parameter held: signals that are blocked from its first instruction on.
  public init(
    _ path: String, _ arguments: [String] = [], environment: [String: String] = [:],
    held: [Int32] = []
  ) throws(SystemError) {
    let (id, stdin, stdout, stderr) = try Self.spawning.withLock { _ throws(SystemError) in
      let stdin = try Pipe()
      let stdout = try Pipe()
      let stderr = try Pipe()
      let id = try Self.spawn(
        path, arguments, environment, held, files: [stdin.reader, stdout.writer, stderr.writer])
      return (id, stdin, stdout, stderr)
    }
    close(stdin.reader)
    close(stdout.writer)
    close(stderr.writer)
    self.id = id
    input = stdin.writer
    output = try OutputCollector(descriptor: stdout.reader)
    errorOutput = try OutputCollector(descriptor: stderr.reader)
  }

  deinit {
    if status == nil {
      kill(id, SIGKILL)
      var raw: Int32 = 0
      unsafe waitpid(id, &raw, 0)
    }
    if inputIsOpen { close(input) }
  }

  /// Writes to the program's standard input, all of it, and blocks while the program does not read.
  public func write(_ bytes: [UInt8]) throws(SystemError) {
    var at = 0
    while at < bytes.count {
      at += try SystemError.check("write", "standard input") {
        unsafe bytes.withUnsafeBytes { unsafe Self.send(input, $0, from: at) }
      }
    }
  }

  public func write(_ text: String) throws(SystemError) { try write(Array(text.utf8)) }

  public func closeInput() {
    if inputIsOpen { close(input) }
    inputIsOpen = false
  }

  /// Sends a signal; nothing when the program has ended.
  public func signal(_ number: Int32) {
    if status == nil { kill(id, number) }
  }

  /// Waits for the end, at most `limit`; then the program is killed and `.timedOut` returned.
  @discardableResult
  public func wait(_ limit: Duration = .seconds(20)) -> Status {
    if let status { return status }
    let deadline = SystemClock.monotonic() + Sanitizer.patience(limit)
    while true {
      var raw: Int32 = 0
      let result = unsafe waitpid(id, &raw, WNOHANG)
      if result == id { return finish(Self.decode(raw)) }
      if SystemClock.monotonic() > deadline {
        kill(id, SIGKILL)
        unsafe waitpid(id, &raw, 0)
        return finish(.timedOut)
      }
      // There is no portable wait with a deadline; a millisecond is far below what tests measure.
      usleep(1000)
    }
  }

  /// How it ended, or nil while it runs.
  public func ended() -> Status? {
    if let status { return status }
    var raw: Int32 = 0
    let result = unsafe waitpid(id, &raw, WNOHANG)
    return result == id ? finish(Self.decode(raw)) : nil
  }

  /// Runs a program to its end, with `input` given and closed.
  public static func run(
    _ path: String, _ arguments: [String] = [], environment: [String: String] = [:],
    input: [UInt8] = [], limit: Duration = .seconds(20)
  ) throws(SystemError) -> (status: Status, output: [UInt8], errorOutput: [UInt8]) {
    let child = try ChildProcess(path, arguments, environment: environment)
    try child.write(input)
    child.closeInput()
    let status = child.wait(limit)
    return (status, child.output.waitForEnd(), child.errorOutput.waitForEnd())
  }

  private func finish(_ status: Status) -> Status {
    self.status = status
    // Whoever knows that it ended may look at all that it wrote.
    output.settle()
    errorOutput.settle()
    return status
  }

  private static func decode(_ raw: Int32) -> Status {
    raw & 0x7F == 0 ? .exited((raw >> 8) & 0xFF) : .signalled(raw & 0x7F)
  }

  private static func send(_ file: Int32, _ bytes: UnsafeRawBufferPointer, from at: Int) -> Int {
    unsafe Glibc.write(file, bytes.baseAddress! + at, bytes.count - at)
  }
}

private struct Pipe {
  let reader: Int32
  let writer: Int32

  init() throws(SystemError) {
    var ends: [Int32] = [0, 0]
    // Close-on-exec, or a child started at the same time by another test would keep the pipe open.
    // (Glibc's module has no `pipe2`, hence the lock around `spawn`.)
    try SystemError.check("pipe") { unsafe pipe(&ends) }
    for end in ends { try SystemError.check("fcntl") { fcntl(end, F_SETFD, FD_CLOEXEC) } }
    reader = ends[0]
    writer = ends[1]
  }
}

extension ChildProcess {
  private static func spawn(
    _ path: String, _ arguments: [String], _ environment: [String: String], _ held: [Int32],
    files: [Int32]
  ) throws(SystemError) -> pid_t {
    var actions = unsafe posix_spawn_file_actions_t()
    unsafe posix_spawn_file_actions_init(&actions)
    defer { unsafe posix_spawn_file_actions_destroy(&actions) }
    for (target, file) in files.enumerated() {
      unsafe posix_spawn_file_actions_adddup2(&actions, file, Int32(target))
    }
    var attributes = posix_spawnattr_t()
    unsafe posix_spawnattr_init(&attributes)
    defer { unsafe posix_spawnattr_destroy(&attributes) }
    // The test runner may block signals or ignore SIGPIPE; a program under test starts with a clean set.
    var blocked = sigset_t()
    unsafe sigemptyset(&blocked)
    for number in held { unsafe sigaddset(&blocked, number) }
    unsafe posix_spawnattr_setsigmask(&attributes, &blocked)
    var defaults = sigset_t()
    unsafe sigemptyset(&defaults)
    for number in [SIGPIPE, SIGTERM, SIGINT, SIGHUP] { unsafe sigaddset(&defaults, number) }
    unsafe posix_spawnattr_setsigdefault(&attributes, &defaults)
    unsafe posix_spawnattr_setflags(
      &attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))

    var words = unsafe ([path] + arguments).map { unsafe strdup($0) } + [nil]
    var variables = unsafe merged(environment).map { unsafe strdup($0) } + [nil]
    defer {
      unsafe (words + variables).forEach { unsafe free($0) }
    }
    var id = pid_t()
    let code = unsafe posix_spawnp(&id, path, &actions, &attributes, &words, &variables)
    guard code == 0 else { throw SystemError(call: "posix_spawn", code: code, subject: path) }
    return id
  }

  private static func merged(_ added: [String: String]) -> [String] {
    var variables: [String] = []
    var next = unsafe environ
    while let entry = unsafe next.pointee {
      let text = unsafe String(cString: entry)
      let name = text.prefix { $0 != "=" }
      if added[String(name)] == nil { variables.append(text) }
      unsafe next += 1
    }
    return variables + added.map { "\($0.key)=\($0.value)" }
  }
}
